"""The page of `kubesched fit --shapes`: which shape would take the pending pods, and why the others would not."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

import msgspec

from kubesched.documents import count, joined, listed, plural
from kubesched.pages.formats import (
    Align,
    Cell,
    Check,
    Column,
    Level,
    Page,
    Paragraph,
    Row,
    Table,
    fields,
    limits,
    page_of,
    workload_checks,
)
from kubesched.pages.plans.fault_parts import fault_parts
from kubesched.planning import PodsLeft, ShapesThatFit, ShapeUse, ShapeVerdict, premise

_NOT_KNOWN: Final = (
    "That pods would fit a node of a shape does not mean that one is added: the rules of the autoscaler itself, such "
    "as cool-down and backoff, and the quotas of the cloud are not known."
)


@page_of.register
def shapes_page(answer: ShapesThatFit, *, explain: str = "", now: datetime | None = None) -> Page:
    """The page.

    Args:
        explain: the command that explains a pod that no shape would take; empty for none.
        now: the present, for the age of the snapshot.
    """
    document = _document(answer)
    return Page(
        "shapes",
        _under(answer.assumed, _verdict(answer)),
        (
            *fault_parts(answer.faults),
            _pods(answer),
            _shapes(answer),
            *_why_not(answer),
            *(Paragraph(f"{note[:1].upper()}{note[1:]}.", Level.WARNING) for note in answer.notes),
            Paragraph(_NOT_KNOWN, Level.DETAIL),
        ),
        versions=(answer.version,),
        limits=limits(answer.taken_at, now),
        next_command=explain,
        document=document,
        lines=document["pods"],
        main="pods",
        checks=_checks(answer),
        faults=answer.faults,
        notes=answer.notes,
    )


def _under(assumed: Sequence[str], verdict: Paragraph) -> Paragraph:
    """The verdict after the changes under which it holds."""
    if not assumed:
        return verdict
    return msgspec.structs.replace(verdict, text=f"{premise(assumed)}{verdict.text[:1].lower()}{verdict.text[1:]}")


def _verdict(answer: ShapesThatFit) -> Paragraph:
    n, helped = answer.n_left, answer.n_helped
    if not n:
        return Paragraph(f"No pod needs a new node{_placed(answer)}.", Level.GOOD)
    pods = count(n, "pod has no node", "pods have no node")
    fit = f"fit a node of a known shape{_placed(answer)}."
    if not helped:
        return Paragraph(f"{pods}; {'it would not' if n == 1 else 'none of them would'} {fit}", Level.BAD)
    which = f"{helped:,} of them" if helped < n else "it" if n == 1 else "all of them"
    return Paragraph(f"{pods}; {which} would {fit}", Level.GOOD if helped == n else Level.WARNING)


def _placed(answer: ShapesThatFit) -> str:
    n = answer.n_placed
    return f" ({count(n, 'other pod fits', 'other pods fit')} without a new node)" if n else ""


def _pods(answer: ShapesThatFit) -> Table:
    """For equal pods, the best shape and how many nodes of it; or the nearest there is to one."""
    columns = (
        Column("pods", align=Align.NUMBER),
        Column("workload"),
        Column("shape", "WOULD FIT"),
        Column("nodes", align=Align.NUMBER),
        Column("onOne", "ON ONE", Align.NUMBER),
        Column("zones", "ZONES"),
        Column("others", "ALSO"),
        Column("cause", "NO NODE BECAUSE", is_wide=True),
    )
    return Table(
        "pods",
        "Which shape would take them",
        columns,
        [*map(_pods_row, sorted(answer.left, key=lambda one: not one.best))],
    )


def _pods_row(one: PodsLeft) -> Row:
    chosen = one.chosen
    others = [verdict for verdict in one.verdicts if verdict.n_on_one and verdict is not chosen]
    also = listed((f"{verdict.shape}{_number(verdict)}" for verdict in others), first=2)
    cause = Cell(one.cause, level=Level.DETAIL)
    if chosen is None:
        some = max(others, key=lambda verdict: verdict.n_within, default=None)
        if some is None or not some.n_within:
            return [one.n_pods, one.workload, Cell("none", level=Level.BAD), "", "", "", also, cause]
        shape = Cell(f"{some.shape} for {some.n_within:,} of them", level=Level.WARNING)
        return [one.n_pods, one.workload, shape, "", some.n_on_one, joined(some.zones), also, cause]
    shape = Cell(chosen.shape, level=Level.GOOD)
    return [one.n_pods, one.workload, shape, chosen.n_nodes or 0, chosen.n_on_one, joined(chosen.zones), also, cause]


def _number(verdict: ShapeVerdict) -> str:
    return "" if verdict.n_nodes is None else f" ({count(verdict.n_nodes, 'node')})"


def _shapes(answer: ShapesThatFit) -> Table:
    has_prices = any(one.shape.price is not None for one in answer.shapes)
    columns = (
        Column("shape"),
        Column("source"),
        Column("pods", "PODS THAT WOULD FIT", Align.NUMBER),
        Column("onOne", "ON ONE", Align.NUMBER),
        Column("nodes", "NODES WANTED", Align.NUMBER),
        Column("now", align=Align.NUMBER),
        Column("more", "MAY BE ADDED", Align.NUMBER),
        Column("limit"),
        Column("price", "PRICE", Align.NUMBER, is_wide=not has_prices),
        Column("allocatable", is_wide=True),
    )
    return Table("shapes", "The shapes", columns, [_shape_row(one) for one in answer.shapes])


def _shape_row(one: ShapeUse) -> Row:
    shape = one.shape
    short = f"{one.n_nodes} wanted, {shape.n_more} may be added" if one.is_short else ""
    limit = "; ".join(filter(None, [short, shape.limit, shape.note]))
    wanted = "-" if one.n_nodes is None else f"{one.n_nodes:,}"
    more = Cell("-" if shape.n_more is None else f"{shape.n_more:,}", shape.n_more)
    offered = joined(f"{amount} {name}" for name, amount in (shape.model.status.allocatable or {}).items())
    return [
        shape.name,
        shape.source.removesuffix(f" {shape.name}"),
        Cell(f"{one.n_pods:,}", one.n_pods, Level.GOOD if one.n_pods else Level.PLAIN),
        one.n_on_one,
        Cell(wanted, one.n_nodes, Level.WARNING if one.is_short else Level.PLAIN),
        shape.n_now,
        more,
        Cell(limit, level=Level.WARNING if short or shape.note or shape.n_more == 0 else Level.DETAIL),
        Cell("-" if shape.price is None else f"{shape.price:g}", shape.price),
        Cell(offered, level=Level.DETAIL),
    ]


def _why_not(answer: ShapesThatFit) -> tuple[Table, Table]:
    """For pods that no shape would take, why: about the shape that is nearest, and about each."""
    columns = (Column("workload"), Column("shape", "NODE OF"), Column("why"), Column("message", "KUBE-SCHEDULER"))
    nearest: list[Row] = []
    each: list[Row] = []
    shapes = {use.shape.name: use.shape for use in answer.shapes}
    for one in answer.left:
        reasons: dict[tuple[str, str], list[str]] = {}
        for verdict in sorted(one.verdicts if not one.best else (), key=lambda verdict: len(verdict.reasons)):
            reasons.setdefault(_why(verdict, shapes[verdict.shape].limit), []).append(verdict.shape)
        rows = [[one.workload, listed(names), why, said] for (why, said), names in reasons.items()]
        nearest += rows[:1]
        each += rows
    title = "Why no scale-up"
    is_all = len(each) == len(nearest)
    return (
        Table("whyNot", f"{title}{'' if is_all else ': the nearest shape'}", columns, nearest),
        Table("whyNotEach", f"{title}: every shape", columns, [] if is_all else each, is_wide=True),
    )


def _why(verdict: ShapeVerdict, limit: str) -> tuple[str, str]:
    """Why nodes of a shape would not take all of some pods: in our words, and in kube-scheduler's about such a node."""
    if not verdict.n_on_one:
        return verdict.obstacle or "the filters pass, and it gets no node", "; ".join(verdict.reasons)
    n = verdict.n_nodes
    wanted = "no number of nodes is enough" if n is None else f"{count(n, 'node')} {plural(n, 'is', 'are')} wanted"
    return f"{wanted}; {limit}" if limit else wanted, ""


def _document(answer: ShapesThatFit) -> dict[str, Any]:
    return {
        **fields(answer, "assumed", "n_left", "n_placed", "notes", "faults"),
        "wouldFit": answer.n_helped,
        "pods": [
            {
                **fields(one, "workload", "pods", "cause"),
                "shape": one.best,
                "shapes": [_verdict_document(verdict) for verdict in one.verdicts],
            }
            for one in answer.left
        ],
        "shapes": [_shape_document(one) for one in answer.shapes],
    }


def _verdict_document(one: ShapeVerdict) -> dict[str, Any]:
    shown = fields(one, "shape", "n_on_one", "n_nodes", "zones", "reasons", "obstacle")
    return {**shown, "withinLimit": one.n_within}


def _shape_document(one: ShapeUse) -> dict[str, Any]:
    shape = one.shape
    return {
        **fields(one, "n_pods", "n_on_one", "n_nodes"),
        **fields(shape, "source", "n_now", "limit", "note", "price", "zones"),
        "shape": shape.name,
        "mayBeAdded": shape.n_more,
        "allocatable": dict(shape.model.status.allocatable or {}),
    }


def _checks(answer: ShapesThatFit) -> list[Check]:
    """Each workload with pods that have no node."""
    outcomes: list[tuple[str, str, str]] = []
    for one in answer.left:
        whys = dict.fromkeys(verdict.obstacle for verdict in one.verdicts if verdict.obstacle)
        why = "" if one.best else f"would not fit within the limit of a known shape: {'; '.join(whys) or one.cause}"
        outcomes += [(one.workload, why, "")] * len(one.pods)
    return workload_checks(outcomes)
