"""Reads and writes YAML and JSON as kubectl does; describes what is wrong with a document in one sentence."""

from kubesched.documents.faults import Fault, describe_fault, describe_json_fault, shorten
from kubesched.documents.forgiving import decode_forgiving
from kubesched.documents.nesting import RawJson, decode_nested
from kubesched.documents.yaml_reader import PlacedText, RepeatedKey, YamlDocument, read_yaml
from kubesched.documents.yaml_writer import write_yaml

__all__ = [
    "Fault",
    "PlacedText",
    "RawJson",
    "RepeatedKey",
    "YamlDocument",
    "decode_forgiving",
    "decode_nested",
    "describe_fault",
    "describe_json_fault",
    "read_yaml",
    "shorten",
    "write_yaml",
]
