"""Small files with the traits of those that people have: read right, or refused with the remedy."""
# ruff: noqa: E501

import bz2
import gzip
import io
import lzma
import warnings
import zipfile
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.orc
import pyarrow.parquet
import pytest

import rapids_trav
from rapids_trav import TravError, inspect_edges, read_edges
from rapids_trav.io import files
from rapids_trav.io.dialect import FileOptions

H, NO = {"header": True}, {"header": False}
# Content, what is said about it, and the edges that are read, or "!" and words of the error.
TEXTS = {
    # Where the columns are named, but not first; names of many kinds.
    "names further right": ("ts,proto,src,dst,bytes\n17,tcp,10.1.0.1,10.1.0.2,6\n", {}, "10.1.0.1>10.1.0.2"),
    "names after others": ("id\tkind\tsource\ttarget\n1\tknows\tann\tbob\n", {}, "ann>bob"),
    "names above a score": ("geneA geneB score\nP.7 P.8 490\nP.8 P.9 150\n", {}, "P.7>P.8 P.8>P.9"),
    "usual words": ("caller,callee\nmain,parse\nparse,lex\n", {}, "main>parse parse>lex"),
    "words that are no names": ("oslo,bergen\nbergen,voss\n", {}, "!header=True header=False"),
    "two words alone": ("oslo,bergen\n", {}, "oslo>bergen"),
    "names like their values": ("p1 p2\np2 p3\n", {}, "!header=True"),
    "names like other values": ("node1 node2\nnode3 node4\n", {}, "!header=True"),
    "a usual name that is a value": ("from,to\nto,via\n", {}, "!header=True"),
    "no names": ("oslo,bergen\nbergen,voss\n", NO, "oslo>bergen bergen>voss"),
    "addresses are no names": (
        "10.0.0.1 10.0.0.2\n10.0.0.2 10.0.0.3\n", {}, "10.0.0.1>10.0.0.2 10.0.0.2>10.0.0.3"),
    "capitals": ("ORIGIN,DEST,DISTANCE\nJFK,LAX,2475\n", {}, "JFK>LAX"),
    "named": ("A,B,C\nJFK,LAX,x\n", {"src": "A", "dst": "B"}, "JFK>LAX"),
    "a named weight": ("person,friend,since\nann,bob,x\n", {"weight": "since"}, "!src= person"),
    "numbered": ("x,person,friend\n1,ann,bob\n", {"src": 2, "dst": "3"}, "ann>bob"),
    "a number that is a name": ("3,1,2\n9,5,6\n", {"src": 3, "dst": 1, **H}, "9>5"),
    "a number without names": ("9 5 6\n", {"src": 3, "dst": 1}, "6>9"),
    "a column that is not there": ("src,dst\n1,2\n", {"src": "a", "dst": "b"}, "!no column"),
    "a column beyond": ("src,dst\n1,2\n", {"src": 1, "dst": 3}, "!no column"),
    "numbered names": ("node_1,node_2\n0,747\n1,4257\n", {}, "0>747 1>4257"),
    "ids": ("id_1,id_2\n0,747\n", {}, "0>747"),
    "Neo4j": (":START_ID(P),since:int,:END_ID(P),:TYPE\nann,2001,bob,KNOWS\n", {}, "ann>bob"),
    "streets": ('u,v,key,geometry\n1,2,0,"LINESTRING (0 0, 1 1)"\n2,3,0,x\n', {}, "1>2 2>3"),
    "an index": (",source,target,weight\n0,a,b,1\n1,b,c,2\n", {}, "a>b b>c"),
    "Gephi": ("Source;Target;Type;Id;Label;Weight\n1;2;Directed;0;;1.0\n", {}, "1>2"),
    "several pairs": ("src_a,dst_a,src_b,dst_b\n1,2,3,4\n", {}, "!src= dst="),
    "dates are no ends": ("from_date,to_date,p,q\n1,2,3,4\n", {}, "!src= dst="),
    "names of three columns": ("who,whom,how\nann,bob,5\n", {}, "!src= dst="),
    "names twice": ("src,src\n1,2\n", {}, "!different names"),
    "named in a comment": ("#node1\tnode2\tscore\nA1\tB1\t0.9\n", {"src": "#node1", "dst": "node2"}, "A1>B1"),
    "named in a comment, bare": ("# a b c\n1 2 3\n", {"src": "a", "dst": "c"}, "1>3"),
    "an index above numbers": (",0,1\n0,5,6\n1,7,9\n", {"src": "0", "dst": "1"}, "5>6 7>9"),
    "a second row of names": ("From,To\nid,id\n1,2\n2,3\n", {}, "!words above numbers string_ids=True"),
    "units": ("from,to,length\n-,-,km\n1,2,1.5\n2,3,4\n", {}, "!Line 2"),
    "counts of rows, columns and entries": ("3 3 2\n1 2 1\n2 3 4\n", {}, "!Line 1 count"),
    "an end as weight": ("src,dst,w\n1,2,3\n", {"weight": "src"}, "!weight=src column of weights"),
    "infinite weights": ("src,dst,w\n1,2,0.5\n2,3,inf\n", {"weight": "w"}, "1>2 2>3"),
    "counted rows": ("0,5,6\n1,6,7\n2,7,8\n", {}, "!src=2 dst=3"),
    "times before ends": ("1200000000 5 6\n1200000001 6 7\n1200000002 7 5\n", {}, "!src=2 dst=3"),
    "times that come again": ("130 11 25\n130 13 25\n190 25 11\n250 11 13\n", {}, "!src=2 dst=3"),
    "ratings by users": ("901 1 5\n901 2 3\n902 1 4\n902 7 5\n903 9 1\n", {}, "901>1 901>2 902>1 902>7 903>9"),
    "a path with weights": ("0 1 5\n1 2 3\n2 3 4\n", {}, "0>1 1>2 2>3"),
    "a line of a tab": ("1,2\n\t\n2,3\n", {}, "1>2 2>3"),
    "an arc from its tail": ("tail,head\n1,2\n", {}, "1>2"),
    "triples with names": ("head,relation,tail\na,knows,b\n", {}, "a>b"),
    "numbers that are names": ("0,1\n5,6\n7,8\n", {"src": 0, "dst": "1"}, "5>6 7>8"),
    "names of rows that are numbers": ("from to\n1 5 6\n2 6 7\n", {}, "!Line 2 R header"),
    "a title": ("Trains\nsrc,dst\n1,2\n2,3\n", {}, "!delete title"),
    "a title of a cell": ("My edges,\nsource,target\n1,2\n2,3\n", {}, "!Line 1 above delete"),
    "an unknown sign of comments": ("// my graph file\n1 2\n2 3\n", {}, "!Line 1 comment="),
    "counts above edges with weights": ("4 3\n0 1 5\n1 2 6\n2 3 7\n", {}, "!Line 1 counts"),
    "counts of lines above edges": ("4\n3\n0 1\n1 2\n2 3\n", {}, "!Line 1 delete"),
    "a series of names": ("gene,s1,s2,s3\nA,5,6,7\nB,6,7,8\n", {}, "!src="),
    "degrees are no ends": ("node,in_degree,out_degree\n1,2,3\n2,3,4\n", {}, "!src="),
    "names with a year": ("exporter,importer,2019\nUSA,DEU,5\nDEU,FRA,6\n", {}, "!exporter src="),
    "a year that is a weight": ("USA,DEU,2019\nDEU,FRA,2020\n", {}, "USA>DEU DEU>FRA"),
    "airports": ("origin_airport_id,dest_airport_id,n\n1,2,5\n", {}, "1>2"),
    "names twice, not needed": ("Time,From,Account,To,Account\n1,a,x,b,y\n", {"src": 3, "dst": 5}, "x>y"),
    "ends in the order of a comment": ("# weight,source,target\n5,1,2\n6,2,3\n", {}, "!comment src=source"),
    "a direction in a comment": ("#target,source\n1,2\n2,3\n", {}, "!comment dst=target"),
    "an index above ends": ("id,source,target\n0,1,2\n1,2,3\n2,3,10\n", {}, "1>2 2>3 3>10"),
    # Delimiters, whatever the extension.
    "brackets": ("(1,2)\n(2,3)\n", {}, "!brackets"),
    "a sign behind each row": ("1 2,\n2 3,\n", {}, "!3, delimiter="),
    "a sign behind each first field": ("1: 2\n2: 3\n3: 1\n", {}, "!3: delimiter="),
    "a table in Markdown": ("| src | dst |\n|-----|:---:|\n| 1 | 2 |\n", {}, "!Line 2 rule"),
    "the separator of Excel": ("sep=;\nsrc;dst\n1;2\n2;3\n", {}, "1>2 2>3"),
    "a tab, which Excel is told": ("sep=\t\nsrc\tdst\n1\t2\n2\t3\n", {}, "1>2 2>3"),
    "a control character": ("1\x012\n2\x013\n", {"delimiter": "\x01"}, "1>2 2>3"),
    "thousands": ("src;dst\n1.000;2\n1;3\n", {"decimal": ","}, "1.000>2 1>3"),
    "blanks without a break": ("src,dst\n1\u00a0,2\n1,3\n", {}, "1>2 1>3"),
    "commas": ("from_stop_id,to_stop_id,seconds\nA,B,120\n", {}, "A>B"),
    "numbers with commas": ("0,276\n0,58\n", {}, "0>276 0>58"),
    "bars": ("# provider|customer|type\n1|2|-1\n2|3|0\n", {}, "1>2 2>3"),
    "a tab before an empty field": ("\ttarget\tnote\tsource\n0\t7\t\t9\n", {}, "9>7"),
    "a few blanks": ("   1    2\n  10   20\n", {}, "1>2 10>20"),
    "blanks and tabs": ("1 \t 2\t\n 2\t3 \n", {}, "1>2 2>3"),
    "cities": ("New York\tBoston\nLos Angeles\tSan Jose\n", NO, "New York>Boston|Los Angeles>San Jose"),
    "cities with commas": (
        "New York,Los Angeles\nSan Jose,Santa Cruz\n", NO, "New York>Los Angeles|San Jose>Santa Cruz"),
    "decimal commas between blanks": ("1 2 0,5\n2 3 1,5\n", {"decimal": ","}, "1>2 2>3"),
    "two delimiters": ("a;b,c\nd;e,f\n", NO, "!delimiter="),
    "names with commas": ("a;Smith, J\nb;Doe, K\n", NO, "a>Smith, J|b>Doe, K"),
    "decimal commas without names": ("1;2;0,5\n2;3;1,5\n", {"decimal": ","}, "1>2 2>3"),
    "commas inside": ("a;b,c\nd;e\n", NO, "a>b,c d>e"),
    "a delimiter": ("1:2\n2:3\n", {"delimiter": ":"}, "1>2 2>3"),
    "one column": ("1\n2\n", {}, "!delimiter="),
    "KONECT": ("% sym unweighted\n% 2 3 3\n1 2\n2 3\n", {}, "1>2 2>3"),
    # Marks inside fields.
    "a sharp": ("source target\nalice C#\nbob C\n", {}, "alice>C# bob>C"),
    "addresses with marks": (
        "http://a.org/x#1 http://a.org/y\nx#2 y\n", NO, "http://a.org/x#1>http://a.org/y x#2>y"),
    "a comment behind": ("1 2 # first\n2 3\n", {}, "1>2 2>3"),
    "a mark after a blank": ("source target\nalice #ai\nbob #ml\n", {}, "!comment="),
    "no comments": ("source target\nalice #ai\nbob #ml\n", {"comment": ""}, "alice>#ai bob>#ml"),
    "marks that begin rows": ("source,target\n#ai,alice\n#ml,alice\n", {}, "#ai>alice #ml>alice"),
    "a comment below a header": ("source,target\n# by hand\n1,2\n", {}, "1>2"),
    "marks that begin rows without a header": ("bob,carl\n#ai,alice\n", NO, "!comment="),
    "marks that begin rows between blanks": ("bob carl\n#ai alice\n", NO, "!comment="),
    "marks of the first rows": ("#ai,alice\nbob,carl\n", NO, "!comment="),
    "rows that are commented out": ("1 2\n#2 3\n3 4\n", {}, "1>2 3>4"),
    "other comments": ("// by hand\n1 2\n2 3 // last\n", {"comment": "//"}, "1>2 2>3"),
    "a comment behind a comma": ("1,2 # first\n2,3\n", {}, "!comment="),
    "a comment behind words": ("src,dst\na,b # first\nb,c\n", {}, "!comment="),
    "a comment behind a weight": ("src,dst,km\n1,2,1.5 #first\n2,3,4\n", {}, "!Line 2 comment="),
    "a row that is commented out below a header": ("src,dst\n1,2\n#2,3\n3,4\n", {}, "!comment="),
    "words behind a mark below a header": ("src,dst\n# Oslo, Norway\na,b\n", {}, "!comment="),
    "a sonata": ("composer,work\nB,Sonata #2\n", H, "B>Sonata #2|"),
    "a comment behind a comma, said": ("1,2 # first\n2,3\n", {"comment": "#"}, "1>2 2>3"),
    "percent": ("source,target,share\na,b,5%\n", {}, "a>b"),
    # Quotes.
    "quotes between blanks": ('"ann" "bob" 3\n"New York" "bob" 4\n', NO, "ann>bob|New York>bob"),
    "delimiters within quotes between blanks": ('"a;b" "c;d" 1\n"e" "a;b" 2\n', NO, "a;b>c;d e>a;b"),
    "blanks within quotes": ('"New  York"   "bob"\n"a\tb" "c"\n', NO, "New  York>bob|a\tb>c"),
    "names of rows": ('"from" "to"\n"1" "a" "b"\n"2" "b" "c"\n', {}, "a>b b>c"),
    "names of rows, bare": ("from to km\n1 a b 5\n2 b c 6\n", {}, "a>b b>c"),
    "names of rows with commas": ('"from","to"\n"1","a","b"\n"2","b","c"\n', {}, "a>b b>c"),
    "inches": ('source\ttarget\npipe 2"\tvalve\nvalve\ttank 3"\n', {}, 'pipe 2">valve|valve>tank 3"'),
    "an open quote": ('"open\tx\nx\ty\nz"\tw\n', NO, "!quote="),
    "an open quote, said": ('"open\tx\nx\ty\nz"\tw\n', {"quote": "", **NO}, '"open>x x>y z">w'),
    "a field of two lines like two rows": ('src,dst,n\n1,2,"x\n5,6,y"\n2,3,z\n', {}, "!quote=\" quote="),
    "a field of two lines like two rows, said": ('src,dst,n\n1,2,"x\n5,6,y"\n2,3,z\n', {"quote": '"'}, "1>2 2>3"),
    "an open quote further down": (
        "src,dst\n" + "a,b\n" * 2000 + '"c,d\n' + "a,b\n" * 9 + 'e",f\n', {}, "!quote="),
    "doubled quotes": (
        'source,target\n"Smith, J","O""Neil"\n"O""Neil",Doe\n', {}, 'Smith, J>O"Neil|O"Neil>Doe'),
    "padded quotes": ('"src", "dst"\n"a, b", "c"\n "d" ,"e"\n', {}, "a, b>c|d>e"),
    "single quotes": ("source,target\n'a, b','c'\n'd','e'\n", {}, "a, b>c|d>e"),
    "apostrophes": ("source,target\n't Hooft,O'Neil\nb,c\n", {}, "'t Hooft>O'Neil|b>c"),
    "several lines": ('src,dst,note\na,b,"two\nlines"\nb,c,x\n', {}, "a>b b>c"),
    "several lines further down": (
        "src,dst,note\n" + "a,b,x\n" * 2000 + 'b,c,"two\nlines"\n', {"quote": '"'}, "a>b b>c"),
    "several lines further down, not said": (
        "src,dst,note\n" + "a,b,x\n" * 2000 + 'b,c,"two\nlines"\n', {}, "!quote="),
    "a name of several lines": ('src,dst\n"a\nb",c\nd,e\n', {}, "a\nb>c|d>e"),
    # Ids that must not become others.
    "exponents": ("source,target\n1E5,2E3\n10E4,2E3\n", {}, "1E5>2E3 10E4>2E3"),
    "leading zeros": ("source,target\n01001,01002\n1001,02134\n", {}, "01001>01002 1001>02134"),
    "zeros further down": ("source,target\n" + "1,2\n" * 2000 + "01,3\n", {}, "1>2 01>3"),
    "words further down": ("source,target\n" + "1,2\n" * 2000 + "x,3\n", {}, "1>2 x>3"),
    "numbers and words": ("source,target\n1,a\n2,1\n", {}, "1>a 2>1"),
    "whole floats": ("source,target\n1.0,2\n2.0,3.0\n", {}, "1>2 2>3"),
    "versions": ("source,target\n1.10,1.1\n1.1.2,2\n", {}, "1.10>1.1 1.1.2>2"),
    "fractions with exponents": ("-1.19e-03 -3.46e-03\n4.2e1 5e3\n", {}, "!string_ids"),
    "fractions": ("source,target\n1.5,2\n", {}, "!string_ids"),
    "numbers of numpy.savetxt": (
        "1.000000000000000000e+00 2.000000000000000000e+00\n1.200000000000000000e+01 3.0e+01\n".replace("3.0", f"3.{0:018}"),
        {}, "1>2 12>30"),
    "fractions of numpy.savetxt": ("1.500000000000000000e+00 2.000000000000000000e+00\n", {}, "!string_ids"),
    "blanks around": ("source,target\na ,b\n a,c\n", {}, "a>b a>c"),
    "dates": ("source,target\n2020-01-02,2020-1-2\n", {}, "2020-01-02>2020-1-2"),
    "a null": ("source,target\n1,2\n2,\\N\n\\N,3\n", {}, "!Line 3 null"),
    "a null among words": ("source,target\na,b\nNULL,c\n", {}, "!Line 3 null string_ids"),
    "Namibia": ("source,target\nNA,ZA\nBW,NA\n", {"string_ids": True}, "NA>ZA BW>NA"),
    "Namibia in quotes": ('source,target\n"NA","ZA"\n"BW","NA"\n', {}, "NA>ZA BW>NA"),
    "an empty id": ("source,target\na,b\n,c\n", {}, "!Line 3"),
    "an empty id in quotes": ('source,target\n"",b\nb,c\n', {}, "!Line 2 empty"),
    "the header again": ("source,target\na,b\nsource,target\nb,c\n", {}, "!Line 3 header"),
    "the header above numbers again": ("source,target\n1,2\nsource,target\n", {}, "!Line 3 header"),
    "triples": ("ann knows bob\nbob likes cy\n", NO, "!dst="),
    "triples, said": ("ann knows bob\nbob likes cy\n", {"src": 1, "dst": 3, **NO}, "ann>bob bob>cy"),
    "an index without names": ("0,a,b\n1,b,c\n", {}, "!dst="),
    "a matrix": ("0,1,1\n1,0,0\n1,0,0\n", {}, "!matrix"),
    "a matrix with labels": (",a,b,c\na,0,2,0\nb,2,0,1\nc,0,1,0\n", {}, "!matrix"),
    "three edges": ("1 2 5\n2 3 6\n1 3 7\n", {}, "1>2 2>3 1>3"),
    "counts above the edges": ("3 2\n1 2\n2 3\n", {}, "!delete src=1"),
    "counts of edges and vertices": ("4 3\n1 2\n2 3\n1 3\n3 3\n", {}, "!delete src=1"),
    "lists of two neighbours": ("1 2 3\n2 3 4\n3 4 1\n4 1 2\n", {}, "!adjacency src=1"),
    "unit weights of a path": ("1 2 1\n2 3 1\n3 4 1\n", {}, "1>2 2>3 3>4"),
    "a count above the rows": ("2\n1 2\n2 3\n", {}, "!delete counts"),
    "counts that are an edge": ("3 2\n1 2\n2 3\n", {"src": 1, "dst": 2}, "3>2 1>2 2>3"),
    "a weight that is none": ("src,dst,km\na,b,5\nb,c,far\n", {"weight": "km"}, "!Line 3 far weight="),
    "a weight with a comma": ("src;dst;km\na;b;1,5\n", {"weight": "km"}, "!decimal="),
    "a stray carriage return": ("src,dst\n1,2\n2,3\r4,5\n", {}, "!Line 3"),
    "thousands with commas": ('src,dst,w\na,b,"1,500"\nb,c,2\n', {"weight": "w"}, "!remove"),
    "infinite weights alone": ("src,dst,w\n1,2,inf\n2,3,-Infinity\n", {"weight": "w"}, "1>2 2>3"),
    "null characters": ("0 1\n" * 99999 + "1 2\0\n", {}, "!Line 100000 null"),
    "marks that begin all rows": ("from to\n#a #b\n#b #c\n", {}, "!comment="),
    "neighbours below their vertex": ("# a\nb 1\nc 2\n# b\nc 1\n", {}, "!LGL"),
    "neighbours below their vertex, with data": (
        "0 1\n1 {}\n1 1\n2 {}\n2 1\n3 {}\n3 0\n", {}, "!write_edgelist"),
    "words between rows": ("1 2\n# more\n2 3\n", {}, "1>2 2>3"),
    "an adjacency list": ("1 2 3\n2 3\n3\n", {}, "!adjacency"),
    # Encodings.
    "Latin 1": ("source,target\nÅse,Bjørn\n".encode("latin-1"), {"encoding": "latin-1"}, "Åse>Bjørn"),
    "Latin 1, not said": ("source,target\nÅse,Bjørn\n".encode("latin-1"), {}, "!encoding= Line 2"),
    "Latin 1 further down": (b"a,b\n" * 99999 + b"\xc5,b\n", NO, "!encoding= 100000"),
    "UTF-16": ("source,target\nÅse,Bjørn\n".encode("utf-16"), {}, "Åse>Bjørn"),
    "UTF-32": ("source,target\nÅse,Bjørn\n".encode("utf-32"), {}, "Åse>Bjørn"),
    "UTF-16 without its mark": ("1,2\n".encode("utf-16-le"), {"encoding": "utf-16-le"}, "1>2"),
    "UTF-16 without its mark, not said": ("1,2\n".encode("utf-16-le"), {}, "!encoding="),
    "UTF-8 with a mark": ("source,target\nÅse,Bjørn\n".encode("utf-8-sig"), {}, "Åse>Bjørn"),
    "Windows": ("source,target\r\nÅse,b\r\nb,c\r\n", {}, "Åse>b b>c"),
    "an old Mac": ("source,target\ra,b\rb,c\r", {}, "a>b b>c"),
    "no last line end": ("1 2\n2 3", {}, "1>2 2>3"),
    "decimal commas": ("source;target;km\na;b;1,5\nb;c;10,0\n", {"decimal": ",", "weight": "km"}, "a>b b>c"),
    # Other formats, and files that hold no edges.
    "two colons between fields": ("1::2::5\n2::3::4\n", {}, "!tab ::"),
    "points that group digits": ("src;dst\n1.000;2.000\n3;4.000\n", {}, "!Columns points group string_ids=True"),
    "whole numbers beside semicolons": ("src;dst\n1.0;2.0\n2.00;3\n", {}, "1>2 2>3"),
    "rows that end with a delimiter": ("src,dst\n1,2,\n2,3,\n", {}, "1>2 2>3"),
    "a tab within fields": ("2020-01-01,a\tb,7.5\nbob,a\tb,2.1\n", {"header": False}, "!delimiter="),
    "a row that begins like a comment": ("#ai;#ai;;a b\n9509;#ai;;\n", {"header": False, "src": 1, "dst": 2}, "!comment= #ai"),
    "a word with a sign among numbers": ("7,4,60\n#ai,3,39\n3,7,2\n", {"header": False}, "!comment= #ai"),
    "a row that was made a comment": ("7,4,60\n#5,3,39\n3,7,2\n", {"header": False}, "7>4 3>7"),
    "one end and a weight": ("dst,weight\n1,2\n2,3\n", {}, "!src= dst= weight"),
    "R's names of rows without a header": ('"1" 7 2\n"2" 2 3\n"3" 3 10\n', {}, "!Line 1 src=2 dst=3"),
    "whole ids with decimal commas": ("src;dst\n1,0;2,0\n2,0;3\n", {"decimal": ","}, "1>2 2>3"),
    "fractions with decimal commas": ("src;dst\n1,5;2,5\n2,5;3,5\n", {"decimal": ","}, "!fractions"),
    "Trivial Graph Format": ("1 a\n2 b\n#\n1 2\n", {}, "!Line 3 TGF"),
    "a cut character of UTF-16": ("1,2\n".encode("utf-16") + ("1,2\n" * 99999).encode("utf-16-le") + b"3", {}, "!Line 100001 utf-16"),
    "another encoding far below": (b"a,b\n" * 2000000 + b"b,\x81\n", {"encoding": "cp1252", "header": False}, "!Line 2000001 0x81"),
    "an index of pandas that counts": (",a,b\n0,1,2\n1,2,3\n2,3,10\n", {}, "!src= column_0"),
    "words that differ in a number": ("user_id,friend_id\nuser1,user2\nuser3,user4\n", {}, "!Line 1 header=True"),
    "a row of a tab": ("1\t2\n2\t3\n\t\n", {}, "!Line 3 empty"),
    "a comment that may be an end": ("ann #general\nbob #random\n", {"header": False}, "!Line 1 comment="),
    "DOT": ("digraph G {\n1 -> 2;\n}\n", {}, "!Graphviz"),
    "JSON in UTF-16": ('[{"source": 1, "target": 2}]'.encode("utf-16"), {}, "1>2"),
    "JSON in UTF-32": ('[{"source": 1, "target": 2}]'.encode("utf-32"), {}, "1>2"),
    "a header twice, with points and decimal commas": ("a.b;c.d\n1,0;2,0\na.b;c.d\n", {"decimal": ",", "header": True}, "!Line 3 header"),
    "JSON in Latin 1": ('[{"source": "é", "target": "b"}]'.encode("latin-1"), {}, "!Line 1 0xe9 encoding="),
    "JSON in Latin 1, said": ('[{"source": "é", "target": "b"}]'.encode("latin-1"), {"encoding": "latin-1"}, "é>b"),
    "JSON lines": ('{"source": "a", "target": "b"}\n{"source": "b", "target": "c"}\n', {}, "a>b b>c"),
    "JSON records": ('[{"from": 1, "to": 2},\n {"from": 2, "to": 3}]', {}, "1>2 2>3"),
    "JSON pairs": ("[[1, 2], [2, 3]]", {}, "1>2 2>3"),
    "JSON of Cytoscape": (
        '{"elements": {"nodes": [], "edges": [{"data": {"source": "a", "target": "b"}}]}}', {}, "a>b"),
    "JSON of columns": ('{"source": {"0": 1}, "target": {"0": 2}}', {}, "!records"),
    "JSON of nothing": ("[]", {}, "!no edges"),
    "JSON of nodes and links": ('{"nodes": [], "links": [{"source": "a", "target": "b"}]}', {}, "a>b"),
    "JSON with a null": ('{"source": 9007199254740993, "target": 2}\n{"source": null, "target": 4}\n', {}, "!Record 2 null source"),
    "JSON of unsigned ids": ('{"source": 18446744073709551615, "target": 18446744073709551614}\n', {}, "18446744073709551615>18446744073709551614"),
    "JSON of ids beyond 64 bits": ('{"source": 184467440737095516150, "target": 2}\n', {}, "!string"),
    "JSON of nested ends": ('{"source": {"id": 1}, "target": {"id": 2}}\n', {}, "!src= plain"),
    "JSON of links and edges": ('{"links": [{"source": 1, "target": 2}], "edges": [{"source": 1, "target": 3}]}', {}, "!links edges"),
    "JSON cut": ('[{"from": 1, "to"', {}, "!complete"),
    "JSON of mixed ends": ('[{"from": 1, "to": 2}, {"from": "a", "to": 2}]', {}, '!Field from 1 "a"'),
    "JSON lines, one broken": ('{"from": 1, "to": 2}\n{"from": 1 "to": 2}\n', {}, "!Line 2 JSON"),
    "DIMACS": ("c a comment\np sp 3 2\na 1 2 803\nc another\na 2 3 158\n", {}, "1>2 2>3"),
    "DIMACS edges": ("p edge 3 2\ne 1 2\ne 2 3\n", {}, "1>2 2>3"),
    "DIMACS cut": ("p sp 3 9\na 1 2 803\n", {}, "!complete"),
    "DIMACS of flows": ("p max 3 2\nn 1 s\nn 3 t\na 1 2 5\na 2 3 5\n", {}, "1>2 2>3"),
    "DIMACS of flows that cost": ("p min 3 2\nn 1 4\na 1 2 0 4 2\na 2 3 0 4 2\n", {}, "1>2 2>3"),
    "DIMACS of other vertices": ("p sp 3 2\na 1 2 5\na 2 9 5\n", {}, "!between 1 and 3"),
    "DIMACS cut in half": ("p sp 3 4\na 1 2 5\na 2 3 5\n", {}, "!complete"),
    "DIMACS edges in both directions": ("p edge 3 4\ne 1 2\ne 2 3\n", {}, "1>2 2>3"),
    "METIS with two weights of an edge": ("3 2 1\n2 5\n1 6 3 7\n2 7\n", {"format": "metis"}, "!two weights"),
    "METIS": ("% a comment\n3 2\n2\n1 3\n2\n", {"format": "metis"}, "1>2 2>3"),
    "METIS with weights": ("3 2 11\n7 2 5\n7 1 5 3 6\n7 2 6\n", {"format": "metis"}, "1>2 2>3"),
    "METIS in one direction": ("3 2\n2\n3\n\n", {"format": "metis"}, "1>2 2>3"),
    "METIS cut": ("3 2\n2\n1 3\n", {"format": "metis"}, "!check"),
    "METIS, not said": ("3 2\n2\n1 3\n2\n", {}, "!format=metis"),
    "METIS of two neighbours, not said": ("4 4\n2 3\n1 4\n1 4\n2 3\n", {}, "!format=metis"),
    "an edge list of NetworkX": ("# by hand\n0 1 {}\n1 10 {'weight': 7, 'kind': 'a b'}\n", {}, "0>1 1>10"),
    "an edge list of NetworkX of words": ("b 01 {'weight': 7}\n01 a {}\n", {}, "b>01 01>a"),
    "an edge list of NetworkX with marks": ("a#1 b {'c': '#ff'}\nb #e {}\n", {}, "a#1>b b>#e"),
    "a matrix of Matrix Market": (
        "%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2\n", {}, "1>2"),
    "GML": ("graph [ node [ id 1 ] node [ id 2 ] edge [ source 1 target 2 ] ]\n", {}, "1>2"),
    "GML in UTF-8": (
        'graph [\n node [ id 0 label "Åse" ]\n node [ id 1 label "b" ]\n edge [ source 0 target 1 ]\n]\n', {},
        "Åse>b"),
    "a pattern with values": (
        "%%MatrixMarket matrix coordinate pattern general\n3 3 2\n1 2 5\n2 3 6\n", {}, "!pattern"),
    "GML with an edge twice": (
        "graph [ directed 1 node [ id 1 ] node [ id 2 ] edge [ source 1 target 2 ] edge [ source 1 target 2 ] ]\n", {},
        "1>2",
    ),
    "Pajek below a comment": ('% made by hand\n\n*Vertices 2\n1 "a"\n2 "b"\n*Arcs\n1 2 3\n', {}, "a>b"),
    "Pajek with comments": ('*Vertices 2\n1 "a"\n2 "b"\n*Arcs\n% from to\n\n1 2 1\n', {}, "a>b"),
    "Pajek with a partition": ('*Vertices 2\n1 "a"\n2 "b"\n*Arcs\n1 2\n*Partition p\n*Vertices 2\n1\n1\n', {}, "!Line 6 partition"),
    "Pajek of several relations": ('*Vertices 2\n1 "a"\n2 "b"\n*Arcs :1 "x"\n1 2\n*Arcs :2 "y"\n2 1\n', {}, "!Line 6 relation"),
    "Pajek of a vertex beyond": ('*Vertices 2\n1 "a"\n2 "b"\n*Arcs\n1 3\n', {}, "!Line 5 2 vertices"),
    "Pajek cut": ('*Vertices 2\n1 "a"\n2 "b"\n*Arcs\n1 2\n2', {}, "!Line 6 2 vertices"),
    "GEXF of Gephi": (
        '<gexf xmlns="http://www.gexf.net/1.3" version="1.3"><graph defaultedgetype="directed"><nodes>'
        '<node id="a"/><node id="b"/></nodes><edges><edge id="0" source="a" target="b"/></edges></graph></gexf>',
        {}, "a>b"),
    "a matrix of Matrix Market with a small banner": (
        "%%matrixmarket matrix coordinate pattern general\n2 2 1\n1 2\n", {}, "1>2"),
    "Pajek of lists": ('*Vertices 3\n1 "a"\n2 "b"\n3 "c"\n*Arcslist\n1 2 3\n', {}, "!*Arcs"),
    "Pajek of both kinds": ('*Vertices 3\n1 "a"\n2 "b"\n3 "c"\n*Arcs\n1 2\n*Edges\n2 3\n', {}, "!either *Edges"),
    "Pajek of Infomap": ('*Vertices 2\n1 "a"\n2 "b"\n*Links\n1 2\n', {}, "!*Arcs"),
    "Pajek of two modes": ('*Vertices 3 1\n1 "a"\n2 "b"\n3 "c"\n*Edges\n1 2\n1 3\n', {}, "a>b a>c"),
    "Pajek with equal labels": ('*Vertices 2\n1 "x"\n2 "x"\n*Edges\n1 2\n', {}, "!labels"),
    "Pajek in Latin 1": (
        '*Vertices 2\n1 "Åse"\n2 "b"\n*Arcs\n1 2\n'.encode("latin-1"), {"encoding": "latin-1"}, "Åse>b"),
    "Pajek without a number": ('*Vertices\n1 "a"\n2 "b"\n*Arcs\n1 2\n', {}, "!Line 1 number"),
    "Pajek without labels": ('*Vertices 3\n2 "b"\n*Arcs\n1 2\n2 3\n', {}, "1>b b>3"),
    "a pickle": (b"\x80\x02]q\0.", {}, "!pickle"),
    "Pajek": ('*Vertices 2\n1 "a"\n2 "b"\n*Arcs\n1 2 3\n', {}, "a>b"),
    "GraphML": ("<?xml version='1.0'?>\n<graphml><graph edgedefault='directed'><node id='a'/><node id='b'/>"
                "<edge source='a' target='b'/></graph></graphml>", {}, "a>b"),
    "a web page": ("<!DOCTYPE html>\n<html></html>\n", {}, "!web page"),
    "GraphML of two graphs": (
        "<graphml><graph edgedefault='directed'><edge source='a' target='b'/></graph>"
        "<graph edgedefault='directed'><edge source='c' target='d'/></graph></graphml>", {}, "!several"),
    "another kind of XML": ('<?xml version="1.0"?>\n<edges><e s="1" t="2"/></edges>\n', {}, "!XML"),
    "a pointer of Git LFS": (
        "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n", {}, "!git lfs pull"),
    "a workbook": (b"SQLite format 3\0", {}, "!export"),
    "nothing": ("", {}, "!no edges"),
}  # fmt: skip


def content(text):
    return text if isinstance(text, bytes) else text.encode()


@pytest.mark.parametrize("name", TEXTS)
def test_text(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    text, said, expected = TEXTS[name]
    (tmp_path / "edges").write_bytes(content(text))
    if expected.startswith("!"):
        with pytest.raises(TravError) as error:
            files.read([Path("edges")], FileOptions(**said))
        said, sentence = str(error.value), str(error.value).replace("'", "")
        assert (
            all(word in sentence for word in expected[1:].split()) and "\n" not in said and said.endswith(".")
        )
        return
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = files.read([Path("edges")], FileOptions(**said))
    pairs = set(zip(*(found.frame[end[0]].astype(str) for end in (found.src, found.dst)), strict=True))
    assert pairs == {
        tuple(pair.split(">")) for pair in expected.split("|" if "|" in expected else " ") if pair
    }


EDGES = pd.DataFrame({"from_id": ["a", "b"], "to_id": ["b", "c"], "km": [1.5, 2.0]})
TEXT = EDGES.to_csv(index=False).encode()


def zipped(**members):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, text in members.items():
            archive.writestr(name, text)
    return stream.getvalue()


@pytest.mark.parametrize(
    "packed",
    [
        gzip.compress(TEXT),
        bz2.compress(TEXT),
        lzma.compress(TEXT),
        pa.compress(TEXT, "zstd", asbytes=True),
        zipped(edges=TEXT),
    ],
    ids=["gz", "bz2", "xz", "zst", "zip"],
)
def test_compression_is_found_in_the_content(tmp_path, packed):
    (tmp_path / "edges.csv").write_bytes(packed)
    pd.testing.assert_frame_equal(read_edges(tmp_path / "edges.csv"), EDGES)
    (tmp_path / "edges.csv").write_bytes(packed[:-8])
    with pytest.raises(TravError, match="check that it is complete"):
        read_edges(tmp_path / "edges.csv")


@pytest.mark.parametrize("write", [pa.feather.write_feather, pa.orc.write_table, EDGES.to_parquet])
def test_tables_of_other_formats(tmp_path, write):
    path = tmp_path / "edges"
    write(path) if write == EDGES.to_parquet else write(pa.Table.from_pandas(EDGES), path)
    found = files.read([path], FileOptions(weight="km"))
    pd.testing.assert_frame_equal(found.frame, EDGES)
    assert (found.src, found.dst, found.weight) == (["from_id"], ["to_id"], "km")


def test_several_files_and_folders(tmp_path):
    folder = tmp_path / "parts"
    folder.mkdir()
    (folder / "_SUCCESS").touch()
    for part, text in (("part-0", "1,2\n"), ("part-1", "2,3\n")):
        (folder / part).write_text(f"src,dst\n{text}")
    assert read_edges(folder)["dst"].tolist() == [2, 3]
    (tmp_path / "more").write_text("src,dst\nx,3\n")
    assert read_edges([folder, tmp_path / "more"])["src"].tolist() == ["1", "2", "x"]
    (folder / "part-2").touch()
    assert read_edges(folder)["dst"].tolist() == [2, 3]
    (tmp_path / "more").write_text("src,dst,km\n1,3,2\n")
    with pytest.raises(TravError, match="the same columns"):
        read_edges([folder, tmp_path / "more"])
    (tmp_path / "more").write_text('{"src": 1, "dst": 2}\n')
    with pytest.raises(TravError, match=r"is text, and .* is json: give files of one format"):
        read_edges([folder, tmp_path / "more"])
    (tmp_path / "two.zip").write_bytes(zipped(a=TEXT, b=TEXT))
    with pytest.raises(TravError, match=r"holds 2 files \(a, b\): extract"):
        read_edges(tmp_path / "two.zip")


def test_the_report_tells_what_is_read_without_a_graph(tmp_path):
    path = tmp_path / "edges"
    path.write_text("# by hand\n# a b km\n1 2 5\n2 2 6 # a loop\n2 1 7\n2 1 8\n")
    report = inspect_edges(path)
    assert report.columns == {"src": "int64", "dst": "int64", "weight": "int64"}
    assert (report.format, report.src, report.dst, report.weights) == ("text", ["src"], ["dst"], ["weight"])
    assert (report.edges, report.vertices, report.self_loops, report.repeated, report.comments) == (
        4,
        2,
        1,
        1,
        3,
    )
    assert report.degrees == {"smallest": 3, "median": 4.0, "mean": 4.0, "largest": 5}
    assert report.text["delimiter"] == " " and report.text["names_in_a_comment"] == ["a", "b", "km"]
    path.write_text("who,whom,how\nann,bob,5\n")
    report = inspect_edges(path)
    assert report.edges is None and "src=" in report.problem
    assert report.columns == {"who": "string", "whom": "string", "how": "int64"}
    path.write_text("3 1\n2\n1\n\n")
    report = inspect_edges(path, format="metis")
    assert (report.vertices, report.isolated, report.directed) == (3, 1, False)


def test_frames_that_are_read_can_be_changed(tmp_path):
    path = tmp_path / "edges"
    for text in ("src,dst,km\n1,2,3.5\n", '[{"src": 1, "dst": 2, "km": 3.5}]', "p sp 2 1\na 1 2 3\n"):
        path.write_text(text)
        frame = read_edges(path)
        frame.iloc[0, 0], frame.iloc[0, 2] = 7, 9
        assert frame.iloc[0].tolist() == [7, 2, 9]


def test_frames_that_are_read_find_their_ends(tmp_path):
    path = tmp_path / "edges.parquet"  # the content counts
    path.write_text("node_1,node_2,km\n0,7,5\n")
    assert rapids_trav.read_edges(path).trav.bfs(0)["vertex"].tolist() == [0, 7]


def test_node_link_objects_keep_direction_and_isolated_nodes(tmp_path):
    path = tmp_path / "edges.json"
    path.write_text(
        '{"directed": true, "nodes": [{"id": 1}, {"id": 9}], "links": [{"source": 1, "target": 1}]}'
    )
    report = inspect_edges(path)
    assert (report.directed, report.vertices, report.isolated) == (True, 2, 1)


@pytest.mark.parametrize("write", [pyarrow.feather.write_feather, pyarrow.orc.write_table])
def test_columns_that_pandas_made_its_index_are_columns_again(tmp_path, write):
    frame = pd.DataFrame({"src": [1, 5, 6], "dst": [2, 3, 9], "w": [0.5, 1.0, 2.0]})
    for index in ("src", ["src", "dst"], [7, 9, 12]):
        indexed = frame.set_axis(index) if index == [7, 9, 12] else frame.set_index(index)
        write(pa.Table.from_pandas(indexed), str(tmp_path / "x"))
        found = read_edges(tmp_path / "x")
        assert found[["src", "dst", "w"]].equals(frame) and len(found.columns) == 3


def test_an_index_of_pandas_is_columns_again(tmp_path):
    path = tmp_path / "edges.parquet"
    EDGES.set_index(["from_id", "to_id"]).to_parquet(path)
    pd.testing.assert_frame_equal(read_edges(path)[list(EDGES)], EDGES)
    assert inspect_edges(path).src == ["from_id"]
    EDGES.assign(from_id=[None, "b"]).to_parquet(path)
    with pytest.raises(TravError, match=r"Row 1 of .* no value \(null\) in column 'from_id'"):
        read_edges(path)
    pairs = pd.DataFrame({"source": [1, 2, 3], "target": [2, 3, 10]}).set_index("source")
    for write in (pairs.to_parquet, lambda path: pa.feather.write_feather(pa.Table.from_pandas(pairs), path)):
        write(path)  # pandas keeps such an index as a range
        pd.testing.assert_frame_equal(read_edges(path), pairs.reset_index())


def test_parquet_that_cannot_be_edges(tmp_path):
    path = tmp_path / "edges.parquet"
    pa.parquet.write_table(pa.table({"source": [{"id": 1}], "target": [{"id": 2}]}), path)
    for call in (read_edges, inspect_edges):
        with pytest.raises(TravError, match=r"which is not an id: .* name a column of plain values"):
            call(path)
    EDGES.to_parquet(path)
    path.write_bytes(gzip.compress(path.read_bytes()))
    with pytest.raises(TravError, match="decompress"):
        read_edges(path)
