"""Reads and writes YAML and JSON as kubectl does; describes what is wrong with a document in one sentence; escapes
characters that control a terminal; words counts and lists.
"""

from kubesched.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from kubesched.documents.controls import (
        escape_controls as escape_controls,
        escape_in_json as escape_in_json,
        on_one_line as on_one_line,
        replace_controls as replace_controls,
    )
    from kubesched.documents.faults import (
        Fault as Fault,
        describe_fault as describe_fault,
        describe_json_fault as describe_json_fault,
        shorten as shorten,
    )
    from kubesched.documents.go_json import decode_forgiving as decode_forgiving
    from kubesched.documents.merge_patches import merge_patch as merge_patch
    from kubesched.documents.nesting import RawJson as RawJson, decode_nested as decode_nested
    from kubesched.documents.slash_comments import advice_on_comments as advice_on_comments
    from kubesched.documents.text_places import (
        TextPlace as TextPlace,
        TextPlaces as TextPlaces,
        locate as locate,
        next_step as next_step,
    )
    from kubesched.documents.toml_texts import is_toml as is_toml
    from kubesched.documents.whole_files import (
        MAX_BYTES as MAX_BYTES,
        OpenableFile as OpenableFile,
        read_file as read_file,
        read_whole as read_whole,
    )
    from kubesched.documents.words import (
        count as count,
        did_you_mean as did_you_mean,
        joined as joined,
        listed as listed,
        meant as meant,
        plural as plural,
        quoted as quoted,
    )
    from kubesched.documents.yaml_reader import (
        PlacedText as PlacedText,
        RepeatedKey as RepeatedKey,
        YamlDocument as YamlDocument,
        read_yaml as read_yaml,
    )
    from kubesched.documents.yaml_writer import write_yaml as write_yaml
