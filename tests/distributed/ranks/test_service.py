"""What ranks keep and hand out."""

from rapids_trav.distributed.ranks.state import Kept, RankState


def test_a_state_starts_empty_and_shares_nothing():
    one, other = RankState(None, "cpu"), RankState(None, "cpu")
    one.items["graph"] = 1
    one.partitions.append((0, None))
    assert other.items == {} and other.partitions == []
    assert Kept({"result": []}).about is None
