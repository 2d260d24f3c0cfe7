"""Reads and writes YAML and JSON as kubectl does; describes what is wrong with a document in one sentence; escapes
characters that control a terminal; words counts and lists.
"""

from kubesched.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from kubesched.documents.controls import escape_controls, escape_in_json, replace_controls
    from kubesched.documents.faults import Fault, describe_fault, describe_json_fault, shorten
    from kubesched.documents.go_json import decode_forgiving
    from kubesched.documents.nesting import RawJson, decode_nested
    from kubesched.documents.slash_comments import advice_on_comments
    from kubesched.documents.spelling import did_you_mean, meant, quoted
    from kubesched.documents.text_places import TextPlace, TextPlaces, locate, next_step
    from kubesched.documents.whole_files import MAX_BYTES, OpenableFile, read_file, read_whole
    from kubesched.documents.words import count, joined, listed, plural
    from kubesched.documents.yaml_reader import PlacedText, RepeatedKey, YamlDocument, read_yaml
    from kubesched.documents.yaml_writer import write_yaml

__all__ = [
    "MAX_BYTES",
    "Fault",
    "OpenableFile",
    "PlacedText",
    "RawJson",
    "RepeatedKey",
    "TextPlace",
    "TextPlaces",
    "YamlDocument",
    "advice_on_comments",
    "count",
    "decode_forgiving",
    "decode_nested",
    "describe_fault",
    "describe_json_fault",
    "did_you_mean",
    "escape_controls",
    "escape_in_json",
    "joined",
    "listed",
    "locate",
    "meant",
    "next_step",
    "plural",
    "quoted",
    "read_file",
    "read_whole",
    "read_yaml",
    "replace_controls",
    "shorten",
    "write_yaml",
]
