"""The report on a replay: a trace in virtual time."""

from kubesched.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from kubesched.pages.replays.compared_replays_page import compared_replays_page as compared_replays_page
    from kubesched.pages.replays.replay_page import replay_page as replay_page
