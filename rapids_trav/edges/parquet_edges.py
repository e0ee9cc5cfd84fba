"""Edges in Parquet files, read a few row groups at a time; each file keeps its own types, as frames do."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Sequence
from os import PathLike, fspath
from typing import TYPE_CHECKING

from rapids_trav.errors import EDGES_CHANGED, TravError, UnknownColumnError, first_line, not_parquet
from rapids_trav.frames import proxies
from rapids_trav.frames.columns import Frame
from rapids_trav.frames.libraries import Library, library
from rapids_trav.utilities.locations import file_location

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow.dataset import ParquetFileFragment

ROWS_PER_READ = 1 << 26  # row groups of a Parquet file are read together up to about this many rows
READ_BYTES = 1 << 16  # bytes of a column read at once where a row group is read in parts
_INDEX = re.compile(r"__index_level_\d+__")  # an index that pandas has stored


class ParquetFiles:
    """Parquet files, or folders of them, read a few row groups at a time; rows are indexed from 0 on."""

    def __init__(self, paths: Sequence[str | PathLike], engine: object) -> None:
        import pyarrow.dataset

        self.library: Library = library("cudf" if engine == "cuda" else "pandas", proxies.active())
        for path in paths:
            file_location("edges", path, "Parquet file or folder")
        names = [fspath(path) for path in paths]
        try:
            self._dataset = pyarrow.dataset.dataset(
                names[0] if len(names) == 1 else names, format="parquet", partitioning="hive"
            )
        except FileNotFoundError as error:
            raise TravError(f"Edges {', '.join(names)} do not exist: check the path.") from error
        except (OSError, ValueError, pyarrow.ArrowTypeError) as error:
            raise _unreadable(", ".join(names), error) from error
        if not self._dataset.files:
            raise TravError(
                f"Edges {', '.join(names)} hold no Parquet files: name a folder that does, or the files."
            )
        self.columns: list[Hashable] = [*_columns(self._dataset.schema)]
        self._stamps = self._current_stamps()

    def _current_stamps(self) -> list[tuple]:
        """Return the properties of each file that show whether it has changed."""
        infos = self._dataset.filesystem.get_file_info(self._dataset.files)
        return [(info.path, info.type, info.size, info.mtime_ns) for info in infos]

    def count_rows(self) -> int:
        return sum(group.num_rows for part in self._fragments() for group in part.row_groups)

    def _fragments(self) -> Iterator[ParquetFileFragment]:
        """Yield the files, after a check that each is Parquet."""
        for fragment in self._dataset.get_fragments():
            try:
                fragment.ensure_complete_metadata()
            except (OSError, ValueError) as error:
                raise _unreadable(fragment.path, error) from error
            self._check_columns(fragment)
            yield fragment

    def _check_columns(self, fragment: ParquetFileFragment) -> None:
        """Refuse a file with other columns than the first, or without the folders of another file."""
        own, first = set(_columns(self._schema(fragment))), self._dataset.files[0]
        for name in sorted(own ^ set(_columns(self._dataset.schema))):
            there, missing = (fragment.path, first) if name in own else (first, fragment.path)
            if there == missing:
                there = "the paths of other files"
            raise UnknownColumnError(
                f"Column {name!r} is in {there} but not in {missing}: give all files the same columns."
            )

    def _schema(self, fragment: ParquetFileFragment) -> pa.Schema:
        """Return the schema of a file, including the partition columns of its path."""
        import pyarrow.dataset

        schema = fragment.physical_schema
        for name in pyarrow.dataset.get_partition_keys(fragment.partition_expression):
            if name not in schema.names:
                schema = schema.append(self._dataset.schema.field(name))
        return schema

    def _read(self, columns: Sequence[Hashable] | None, rows: int | None) -> Iterator[Frame]:
        if self._current_stamps() != self._stamps:
            raise TravError(EDGES_CHANGED)
        columns, rows, start = list(columns or self.columns), rows or ROWS_PER_READ, 0
        for fragment in self._fragments():
            for groups in _batches(fragment, rows):
                frames = self._frames(fragment, groups, columns, rows)
                while True:
                    try:
                        frame = next(frames, None)
                    except (OSError, ValueError) as error:
                        raise _unreadable(fragment.path, error) from error
                    if frame is None:
                        break
                    frame.index = range(start, start + len(frame))
                    start += len(frame)
                    yield frame
        if start == 0:  # files without rows still give columns and types
            table = self._dataset.schema.empty_table().select(columns)
            yield self.library.from_arrow(table)

    def _frames(
        self, fragment: ParquetFileFragment, groups: list[int], columns: list[Hashable], rows: int
    ) -> Iterator[Frame]:
        """Yield row groups as one frame or, if a group has more rows, as frames of up to `rows` rows."""
        subset = fragment.subset(row_group_ids=groups)
        if self.library.name == "pandas" and subset.row_groups[0].num_rows > rows:
            yield from self._parts(fragment, groups, columns, rows)
        else:
            yield self._whole(subset, groups, columns)

    def _parts(
        self, fragment: ParquetFileFragment, groups: list[int], columns: list[Hashable], rows: int
    ) -> Iterator[Frame]:
        """Read row groups a few rows at a time, with a page of each column in memory."""
        import pyarrow as pa
        import pyarrow.dataset
        import pyarrow.parquet

        keys = pyarrow.dataset.get_partition_keys(fragment.partition_expression)
        stored = [name for name in columns if name not in keys]
        with self._dataset.filesystem.open_input_file(fragment.path) as opened:
            file = pyarrow.parquet.ParquetFile(opened, buffer_size=READ_BYTES, pre_buffer=False)
            for batch in file.iter_batches(rows, groups, stored):
                table = pa.Table.from_batches([batch])
                for name in set(columns) - set(stored):
                    field = self._dataset.schema.field(name)
                    table = table.append_column(
                        field, pa.repeat(pa.scalar(keys[name], field.type), len(table))
                    )
                yield self.library.from_arrow(table.select(columns))

    def _whole(self, fragment: ParquetFileFragment, groups: list[int], columns: list[Hashable]) -> Frame:
        if self.library.name == "pandas":
            return self.library.from_arrow(fragment.to_table(schema=self._schema(fragment), columns=columns))
        import cudf
        import pyarrow.dataset

        keys = pyarrow.dataset.get_partition_keys(fragment.partition_expression)
        stored = [name for name in columns if name not in keys]
        frame = cudf.read_parquet(fragment.path, columns=stored, row_groups=[groups])
        for name in set(columns) - set(stored):
            frame[name] = keys[name]
        return frame[columns]


def _columns(schema: pa.Schema) -> list[str]:
    """Return the names of the edge columns, without any stored index."""
    return [name for name in schema.names if not _INDEX.fullmatch(name)]


def _unreadable(name: str, error: Exception) -> TravError:
    if file := not_parquet(error):
        return TravError(
            f"{file} is not a complete Parquet file: check it, or read other formats with "
            f"rapids_trav.io.read_edges."
        )
    return TravError(
        f"Edges {name} cannot be read as Parquet: {first_line(error)}; check that the files are complete, or "
        f"write them again."
    )


def _batches(fragment: ParquetFileFragment, most_rows: int) -> Iterator[list[int]]:
    """Yield the row groups of a file in batches of up to about `most_rows` rows."""
    batch: list[int] = []
    rows = 0
    for group in fragment.row_groups:
        if batch and rows + group.num_rows > most_rows:
            yield batch
            batch, rows = [], 0
        batch.append(group.id)
        rows += group.num_rows
    if batch:
        yield batch
