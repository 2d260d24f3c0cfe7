import asyncio

import pytest

from kubesched.errors import NoRoomError
from kubesched.serving.byte_budget import ByteBudget
from tests.extender.virtual_time import now, run

KIB = 2**10


async def sending(budget, sizes, *, every=0.0, log=None, name=""):
    """A client that sends chunks at some pace. Returns: what became of it, and when."""
    outcome, task = "whole", asyncio.current_task()
    transfer = budget.begin(task.cancel)
    try:
        for size in sizes:
            await asyncio.sleep(every)
            await budget.take(transfer, size)
        budget.complete(transfer)
    except NoRoomError:
        outcome = "no room"
    except asyncio.CancelledError:
        if not transfer.is_dropped:
            raise
        outcome = "dropped"
    finally:
        budget.end(transfer)
    if log is not None:
        log.append(name)
    return outcome, now()


def test_a_transfer_holds_what_has_arrived_until_its_end():
    async def story():
        budget = ByteBudget(10**6, seconds=30.0)
        transfer = budget.begin(lambda: None)
        await budget.take(transfer, 10**5)
        arriving = budget.held
        budget.complete(transfer)
        whole = budget.held
        budget.end(transfer)
        return arriving, whole, budget.held

    assert run(story()) == (10**5, 10**5, 0)


def test_where_there_is_no_room_the_first_goes_on_and_the_others_after_it():
    async def story():
        budget, order = ByteBudget(250 * KIB, seconds=30.0), []
        sizes = [100 * KIB] * 4
        async with asyncio.TaskGroup() as group:
            for name in ("one", "two", "three"):
                group.create_task(sending(budget, sizes, every=0.01, log=order, name=name))
        return order, budget.held

    assert run(story()) == (["one", "two", "three"], 0)


def test_small_bodies_never_wait():
    async def story():
        budget = ByteBudget(250 * KIB, seconds=30.0)
        async with asyncio.TaskGroup() as group:
            group.create_task(sending(budget, [250 * KIB, 10 * KIB], every=5.0))
            await asyncio.sleep(6.0)
            small = group.create_task(sending(budget, [KIB] * 10))
        return small.result()

    assert run(story()) == ("whole", 6.0)


def test_clients_that_hardly_send_lose_their_place_when_somebody_needs_it():
    async def story():
        budget = ByteBudget(250 * KIB, seconds=30.0)
        async with asyncio.TaskGroup() as group:
            silent = group.create_task(sending(budget, [120 * KIB, 120 * KIB], every=20.0))
            trickling = group.create_task(sending(budget, [120 * KIB] + [10] * 100, every=1.2))
            await asyncio.sleep(21.5)
            prompt = group.create_task(sending(budget, [100 * KIB] * 2, every=0.1))
        return silent.result(), trickling.result(), prompt.result()

    (silent, silent_end), (trickling, _), (prompt, prompt_end) = run(story())
    assert (silent, trickling, prompt) == ("dropped", "dropped", "whole")
    assert silent_end < 23
    assert prompt_end < 23


def test_a_client_that_sent_much_and_then_stops_loses_its_place_too():
    async def story():
        budget, dropped = ByteBudget(10**6, seconds=30.0), []

        def drop():
            dropped.append(now())
            budget.end(silent)

        silent = budget.begin(drop)
        await budget.take(silent, 600 * KIB)
        await asyncio.sleep(2.0)
        return await sending(budget, [300 * KIB] * 3, every=0.1), dropped

    (prompt, end), dropped = run(story())
    assert (prompt, len(dropped)) == ("whole", 1)
    assert end < 5


def test_clients_that_hardly_send_keep_their_place_while_there_is_room():
    async def story():
        budget = ByteBudget(10**6, seconds=30.0)
        async with asyncio.TaskGroup() as group:
            silent = group.create_task(sending(budget, [120 * KIB, 120 * KIB], every=12.0))
            await asyncio.sleep(20.0)
            prompt = group.create_task(sending(budget, [100 * KIB] * 2, every=0.1))
        return silent.result()[0], prompt.result()[0]

    assert run(story()) == ("whole", "whole")


def test_a_body_waits_for_room_no_longer_than_allowed():
    async def story():
        budget = ByteBudget(250 * KIB, seconds=5.0)
        async with asyncio.TaskGroup() as group:
            first = group.create_task(sending(budget, [240 * KIB] + [70 * KIB] * 20, every=0.5))
            await asyncio.sleep(1.0)
            second = group.create_task(sending(budget, [100 * KIB]))
        return first.result()[0], second.result()

    assert run(story()) == ("whole", ("no room", 6.0))


def test_waiting_for_room_is_not_held_against_the_client():
    async def story():
        budget = ByteBudget(250 * KIB, seconds=60.0)
        async with asyncio.TaskGroup() as group:
            first = group.create_task(sending(budget, [240 * KIB] + [70 * KIB] * 50, every=0.5))
            await asyncio.sleep(1.0)
            second = group.create_task(sending(budget, [100 * KIB] * 4))
            third = group.create_task(sending(budget, [100 * KIB] * 4))
        return first.result(), second.result(), third.result()

    assert run(story()) == (("whole", 25.5), ("whole", 25.5), ("whole", 25.5))


def test_answers_that_nobody_takes_give_way_to_new_calls():
    async def story():
        budget, dropped = ByteBudget(250 * KIB, seconds=30.0), []

        def drop(number):
            dropped.append((number, now()))
            budget.end(answers[number])

        answers = [budget.begin(lambda number=number: drop(number)) for number in range(3)]
        for answer in answers:
            budget.hold(answer, 100 * KIB)
        await asyncio.sleep(5.0)
        answers[1].note(100 * KIB)
        await budget.until_room(30.0)
        return dropped, now(), budget.held

    assert run(story()) == ([(0, 5.25), (2, 5.25)], 5.25, 100 * KIB)


def test_a_waiting_body_whose_client_gives_up_leaves_no_trace():
    async def story():
        budget = ByteBudget(250 * KIB, seconds=60.0)
        async with asyncio.TaskGroup() as group:
            group.create_task(sending(budget, [240 * KIB] + [70 * KIB] * 5, every=0.5))
            await asyncio.sleep(0.7)
            second = group.create_task(sending(budget, [100 * KIB]))
            await asyncio.sleep(0.1)
            second.cancel()
        return budget.held

    assert run(story()) == 0


def test_no_room_for_an_answer_is_said_in_time():
    async def story():
        budget = ByteBudget(10, seconds=30.0)
        budget.hold(budget.begin(lambda: None), 10)
        with pytest.raises(NoRoomError):
            await budget.until_room(2.0)
        return now()

    assert run(story()) == 2.0
