"""What programs make, compare, copy and give up besides communicators: handlers, operations, hints, datatypes."""

from __future__ import annotations

import array
import json
import pickle
from typing import Any

import flitwork as fw
import numpy as np
import pytest
from flitwork_mpi.programs import MPI, dtlib


def test_error_handlers_are_kept_and_given_up() -> None:
    def program(comm: Any) -> None:
        before = comm.Get_errhandler()
        assert before == MPI.ERRORS_RETURN and before is not MPI.ERRORS_RETURN
        comm.Set_errhandler(MPI.ERRORS_ARE_FATAL)
        assert comm.Get_errhandler() == MPI.ERRORS_ARE_FATAL != MPI.COMM_SELF.Get_errhandler()
        comm.Set_errhandler(before)
        comm.Call_errhandler(MPI.ERR_OTHER)
        before.Free()
        assert before == MPI.ERRHANDLER_NULL and not before and comm.Get_errhandler() == MPI.ERRORS_RETURN
        for refused, error in ((MPI.ERRHANDLER_NULL, MPI.Exception), ("MPI.ERRORS_RETURN", TypeError)):
            with pytest.raises(error):
                comm.Set_errhandler(refused)
        with pytest.raises(MPI.Exception):
            MPI.ERRORS_RETURN.Free()
        for one in (MPI.ERRORS_RETURN, MPI.ERRORS_ABORT, MPI.ERRHANDLER_NULL):
            assert pickle.loads(pickle.dumps(one)) is one
            copy = pickle.loads(pickle.dumps(MPI.Errhandler(one)))
            assert copy == one and copy is not one
        with pytest.raises(NotImplementedError, match=r"MPI\.Comm\.Create_errhandler is not supported"):
            MPI.Comm.Create_errhandler(print)
        window = MPI.Win.Allocate(8, comm=comm)
        window.Set_errhandler(MPI.ERRORS_RETURN)
        window.Get_errhandler().Free()
        window.Free()

    fw.mpi.run(program, ranks=2)


def test_what_is_not_supported_is_no_attribute_and_is_named() -> None:
    def program(comm: Any) -> None:
        for holder in (MPI, MPI.Comm, comm, MPI.Win, MPI.Group, MPI.Op, MPI.INT):
            assert not hasattr(holder, "Frobnicate") and getattr(holder, "Frobnicate", 5) == 5
            with pytest.raises(NotImplementedError, match=r"Frobnicate is not supported by the simulated communicator"):
                holder.Frobnicate  # noqa: B018

    fw.mpi.run(program, ranks=1)


def test_operations_are_copied_compared_and_given_up() -> None:
    def program(comm: Any) -> None:
        assert not MPI.Op() and MPI.Op() == MPI.OP_NULL and MPI.OP_NULL.is_predefined
        assert MPI.Op(MPI.SUM) == MPI.SUM != MPI.PROD and MPI.Op(MPI.SUM) is not MPI.SUM
        assert pickle.loads(pickle.dumps(MPI.SUM)) is MPI.SUM
        assert pickle.loads(pickle.dumps(MPI.Op(MPI.SUM))) is not MPI.SUM
        assert comm.allreduce(comm.rank, op=MPI.Op(MPI.MAX)) == comm.size - 1
        with pytest.raises(MPI.Exception, match="MPI_ERR_OP"):
            MPI.SUM.Free()
        with pytest.raises(MPI.Exception, match="MPI_ERR_OP"):
            comm.Allreduce(np.ones(2), np.ones(2), op=MPI.OP_NULL)

        def added(low: Any, high: Any, kind: Any) -> None:
            # Bytes of a buffer of other elements are taken as they are, and one byte is a number.
            assert kind == MPI.INT and isinstance(low[0], int)
            high[:] = array.array("i", [a + b for a, b in zip(low.cast("i"), high.cast("i"), strict=True)])

        own = MPI.Op.Create(added, commute=True)
        total = array.array("i", [0, 0])
        comm.Allreduce([array.array("i", [1, 1000]), MPI.INT], [total, MPI.INT], own)
        assert total.tolist() == [comm.size, 1000 * comm.size]
        own.Free()
        assert own == MPI.OP_NULL and not own
        assert MPI.MINLOC([1, "b"], [1, "a"]) == [1, "a"]

    fw.mpi.run(program, ranks=3)


def test_hints_are_lists_of_keys_and_constants_travel() -> None:
    def program(comm: Any) -> None:
        info = MPI.Info.Create(None)
        info.update({"a": "1", "b": "2"})
        assert info.keys() == ["a", "b"] and info.values() == ["1", "2"] and info.items() == [("a", "1"), ("b", "2")]
        assert MPI.INFO_NULL.items() == [] and pickle.loads(pickle.dumps(info)).items() == info.items()
        for one in (MPI.INFO_NULL, MPI.INFO_ENV):
            assert pickle.loads(pickle.dumps(one)) is one
        window = MPI.Win.Allocate(8, comm=comm)
        window.Set_info(info)
        window.info = MPI.Info.Create([("c", "3")])
        assert dict(window.info) == {"a": "1", "b": "2", "c": "3"}
        window.Free()
        with pytest.raises(MPI.Exception, match="MPI_ERR_WIN"):
            window.Set_info(info)

    fw.mpi.run(program, ranks=2)


def test_null_windows_and_statuses_are_made_of_nothing_else() -> None:
    def program(comm: Any) -> None:
        assert MPI.Win() == MPI.WIN_NULL and MPI.Win() is not MPI.WIN_NULL and MPI.WIN_NULL.Get_name() == "MPI_WIN_NULL"
        for kind in (MPI.Win, MPI.Status, MPI.Datatype):
            with pytest.raises(TypeError):
                kind(123)

    fw.mpi.run(program, ranks=1)


def test_swaps_in_windows_are_of_one_element_of_one_type() -> None:
    def program(comm: Any) -> None:
        window = MPI.Win.Allocate(8, comm=comm)
        one, two, other = np.zeros(1, "i4"), np.zeros(2, "i4"), np.zeros(1, "f4")
        window.Lock(comm.rank)
        for wrong in (two, other):
            for bad in ((wrong, one), (one, wrong)):
                with pytest.raises(ValueError, match="expected"):
                    window.Fetch_and_op(*bad, comm.rank)
            for worse in ((wrong, one, one), (one, wrong, one), (one, one, wrong)):
                with pytest.raises(ValueError, match="expected"):
                    window.Compare_and_swap(*worse, comm.rank)
        window.Fetch_and_op(None, one, comm.rank, op=MPI.NO_OP)
        window.Unlock(comm.rank)
        window.Free()

    fw.mpi.run(program, ranks=1)


def test_long_datatypes_without_gaps_take_no_memory() -> None:
    def program(comm: Any) -> None:
        count = 2**31 + 2**21
        long = MPI.BYTE.Create_contiguous(count)
        for one in (long, long.Dup(), long.Create_contiguous(3).Create_resized(0, count)):
            assert one.size % count == 0 and one.true_lb == 0 and one.true_ub == one.size
        assert long.Get_extent() == (0, count) and long.Create_resized(0, 2 * count).size == count
        with pytest.raises(MPI.Exception, match="MPI_ERR_NO_MEM: a datatype of 2,147,483,648 bytes with gaps"):
            MPI.BYTE.Create_vector(2**30, 2, 4)
        other = 1 - comm.rank
        comm.Sendrecv([None, 1, long], other, recvbuf=[None, 1, long], source=other)

    network = fw.Torus(2, 2, units=fw.Units(flit_bytes=65536, cycle_ns=1), router=fw.Router(buffer_flits=16))
    assert fw.mpi.run(program, ranks=2, network=network, data=False).bytes > 2**32


def test_datatypes_that_c_lacks_are_null_and_copies_are_equal() -> None:
    def program(comm: Any) -> None:
        assert MPI.REAL16 == MPI.DATATYPE_NULL == MPI.Datatype() and not MPI.BFLOAT16_T
        assert MPI.LOGICAL8.size == 8 and MPI.FLOAT16_T.size == 2 and MPI.LONG_DOUBLE_INT.size > MPI.LONG_DOUBLE.size
        assert MPI.INT.Get_name() == "MPI_INT" and MPI.INT.Create_contiguous(2).Get_name() == ""
        named = MPI.Datatype(MPI.LONG)
        named.Set_name("of mine")
        assert named.Get_name() == "of mine" and pickle.loads(pickle.dumps(named)) == MPI.LONG
        copy = MPI.Datatype(MPI.INT)
        assert copy == MPI.INT and copy is not MPI.INT and MPI.INT.Dup() != MPI.INT
        assert pickle.loads(pickle.dumps(copy)) == MPI.INT

    fw.mpi.run(program, ranks=1)


def test_groups_make_communicators_without_one() -> None:
    def program(comm: Any) -> Any:
        group = comm.Get_group().Incl([2, 0])
        made = MPI.Intracomm.Create_from_group(group, "pair", errhandler=MPI.ERRORS_ARE_FATAL)
        if comm.rank == 1:
            return made == MPI.COMM_NULL
        return made.allgather(comm.rank), made.Get_errhandler() == MPI.ERRORS_ARE_FATAL

    assert fw.mpi.run(program, ranks=3).returns == [([2, 0], True), True, ([2, 0], True)]


def test_what_is_null_or_given_up_is_of_no_use() -> None:
    def program(comm: Any) -> None:
        null = MPI.DATATYPE_NULL
        calls = [null.Free, null.Commit, null.Dup, MPI.INT.Free, lambda: MPI.Status().Get_count(null)]
        calls += [lambda: MPI.Status().Get_elements(null), lambda: MPI.Status().Set_elements(null, 0)]
        calls += [MPI.WIN_NULL.Get_errhandler, MPI.COMM_NULL.Get_errhandler, MPI.INFO_NULL.Free, MPI.Errhandler().Free]
        calls += [MPI.INFO_ENV.Free, lambda: MPI.WIN_NULL.Call_errhandler(MPI.SUCCESS)]
        for call in calls:
            with pytest.raises(MPI.Exception):
                call()
        # A receive that is under way keeps the datatype that it began with.
        columns = MPI.DOUBLE.Create_vector(2, 1, 2).Commit()
        room = np.zeros(4)
        request = comm.Irecv([room, 1, columns], comm.rank)
        columns.Free()
        assert columns == null and not columns
        comm.Send(np.ones(2), comm.rank)
        request.Wait()
        assert room.tolist() == [1, 0, 1, 0]
        with pytest.raises(MPI.Exception, match="MPI_ERR_TYPE"):
            columns.Free()

    fw.mpi.run(program, ranks=1)


def test_types_of_numpy_are_datatypes_and_back() -> None:
    def program(comm: Any) -> Any:
        record = np.dtype("i4,(3,)f8", align=True)
        for kind in ("d", "i4", "?", "c16", ("f4", (2, 3)), record):
            found = dtlib.to_numpy_dtype(dtlib.from_numpy_dtype(kind))
            assert found == np.dtype(kind) and found.isalignedstruct == np.dtype(kind).isalignedstruct
        assert dtlib.to_numpy_dtype(MPI.INT) == np.int32
        for bad in (">i4", "O"):
            with pytest.raises(ValueError, match="cannot be in a message"):
                dtlib.from_numpy_dtype(bad)
        columns = dtlib.to_numpy_dtype(MPI.INT.Create_vector(2, 1, 2))
        assert columns.itemsize == 12 and columns.fields is not None and columns.fields["f1"][1] == 8
        for worse in (MPI.DATATYPE_NULL, MPI.INT.Create_resized(0, 32), MPI.INT.Create_subarray([2], [1], [0])):
            with pytest.raises(ValueError, match="has no NumPy type"):
                dtlib.to_numpy_dtype(worse)
        data, room = np.zeros(2, record), np.zeros(2, record)
        data["f0"], data["f1"] = comm.rank + 1, 0.5
        other = 1 - comm.rank
        comm.Sendrecv([data, 2, dtlib.from_numpy_dtype(record)], other, recvbuf=[room, dtlib.from_numpy_dtype(record)])
        return room["f0"].tolist(), float(room["f1"].sum())

    assert fw.mpi.run(program, ranks=2).returns == [([2, 2], 3.0), ([1, 1], 3.0)]


def test_datatypes_say_how_they_were_made() -> None:
    def program(comm: Any) -> None:
        assert MPI.INT.decode() == (MPI.INT, "NAMED", {}) and MPI.INT.combiner == MPI.COMBINER_NAMED
        rows = MPI.DOUBLE.Create_vector(3, blocklength=2, stride=4)
        both = MPI.Datatype.Create_struct([1, 2], [0, 96], [rows, MPI.INT])
        assert both.envelope == (0, 0, 5, 2, MPI.COMBINER_STRUCT) and both.contents[:3] == ([], [], [2, 1, 2, 0, 96])
        rows.Free()
        old, name, given = both.Get_contents()[3][0].decode()
        assert (old, name, given) == (MPI.DOUBLE, "VECTOR", {"count": 3, "blocklength": 2, "stride": 4})
        copy = pickle.loads(pickle.dumps(both))
        assert copy != both and copy.Get_extent() == both.Get_extent() and copy.envelope == both.envelope
        assert (copy.offsets == both.offsets).all()
        assert MPI.Datatype.Create_f90_real(10, 100).decode() == (MPI.DATATYPE_NULL, "F90_REAL", {"p": 10, "r": 100})
        assert MPI.Datatype.Create_f90_integer(12).size == 8 and MPI.Datatype.Create_f90_complex(6, 30).size == 8
        assert MPI.Datatype.Match_size(MPI.TYPECLASS_REAL, 8) == MPI.REAL8
        assert MPI.Datatype.Get_value_index(MPI.DOUBLE, MPI.INT) == MPI.DOUBLE_INT
        assert not MPI.Datatype.Get_value_index(MPI.INT, MPI.FLOAT)
        codes = [MPI.CHAR.tocode(), MPI.INT.Dup().typestr, MPI.INT_INT.typestr, MPI.INT.Create_contiguous(3).typechar]
        assert codes == ["c", "i4", "V8", "V"] and MPI.INT.name == "MPI_INT" and MPI.WCHAR.size == 4
        for bad in (MPI.INT_INT.tocode, MPI.DATATYPE_NULL.tocode, lambda: MPI.Datatype.fromcode("abc@xyz")):
            with pytest.raises(ValueError):
                bad()

    fw.mpi.run(program, ranks=1)


def test_shares_of_a_distributed_array_make_the_whole() -> None:
    def program(comm: Any) -> Any:
        cyclic, block, default = MPI.DISTRIBUTE_CYCLIC, MPI.DISTRIBUTE_BLOCK, MPI.DISTRIBUTE_DFLT_DARG
        share = MPI.INT.Create_darray(4, comm.rank, [5, 4], [cyclic, block], [default, default], [2, 2], MPI.ORDER_C)
        data, found = np.arange(20, dtype="i4"), np.zeros(6, "i4")
        comm.Sendrecv([data, 1, share], comm.rank, recvbuf=[found, share.size // 4, MPI.INT])
        return found[: share.size // 4].tolist()

    shares = fw.mpi.run(program, ranks=4).returns
    assert shares == [[0, 1, 8, 9, 16, 17], [2, 3, 10, 11, 18, 19], [4, 5, 12, 13], [6, 7, 14, 15]]


def test_whatever_has_a_handle_is_found_by_it_and_given_up_where_it_can_be() -> None:
    def program(comm: Any) -> None:
        grid = comm.Create_cart([2])
        held = [comm, grid, MPI.COMM_NULL, MPI.INT.Dup(), MPI.SUM, MPI.Info.Create(), comm.Get_group(), MPI.GROUP_NULL]
        held += [MPI.ERRORS_RETURN, MPI.REQUEST_NULL, comm.Recv_init(bytearray(1), 0), MPI.Win.Allocate(8, comm=comm)]
        for one in held:
            for number, back in ((one.toint(), one.fromint), (one.py2f(), one.f2py), (one.handle, one.fromhandle)):
                assert back(number) == one and type(back(number)) is type(one)
        with pytest.raises(MPI.Exception, match="the number of no Datatype"):
            MPI.Datatype.fromint(comm.toint())
        for one in held:
            one.free()
            one.free()
        assert comm and MPI.SUM and MPI.ERRORS_RETURN and not any((grid, held[3], held[5], held[-1]))

    fw.mpi.run(program, ranks=2)


def test_infos_of_infos_are_the_same_and_null_ones_have_no_keys() -> None:
    def program(comm: Any) -> None:
        assert MPI.Info() == MPI.INFO_NULL is not MPI.Info() and MPI.INFO_NULL.copy() == MPI.INFO_NULL
        info = MPI.Info.Create({"a": "1", "b": "2"})
        assert MPI.Info(info) == info != info.Dup() and info.popitem() == ("b", "2") and info.pop("c", None) is None
        for call in (lambda: MPI.INFO_NULL.update([]), lambda: MPI.INFO_NULL["a"], MPI.INFO_NULL.popitem):
            with pytest.raises(KeyError):
                call()
        with pytest.raises(TypeError):
            MPI.Info({"a": "1"})  # type: ignore[arg-type]

    fw.mpi.run(program, ranks=1)


def test_a_rank_has_so_many_operations_as_with_mpi4py() -> None:
    def program(comm: Any) -> None:
        made = [MPI.Op.Create(max) for _ in range(32)]
        with pytest.raises(RuntimeError, match="32 operations"):
            MPI.Op.Create(max)
        made[0].Free()
        assert MPI.Op.Create(max) != made[1] != pickle.loads(pickle.dumps(MPI.SUM)) and made[1].toint() == -1
        with pytest.raises(ValueError, match="combines nothing"):
            MPI.OP_NULL(1, 2)

    fw.mpi.run(program, ranks=2)


def test_communicators_of_hardware_and_of_nothing() -> None:
    def program(comm: Any) -> Any:
        info = MPI.Info.Create()
        assert not comm.Split_type(MPI.COMM_TYPE_HW_GUIDED, info=info)
        part = comm.Split_type(MPI.COMM_TYPE_HW_UNGUIDED, info=info)
        guided = comm.Split_type(MPI.COMM_TYPE_HW_GUIDED, info=info)
        assert info["mpi_hw_resource_type"] == "mpi_shared_memory" and guided.size == part.size
        assert not part.Split_type(MPI.COMM_TYPE_HW_UNGUIDED)
        with pytest.raises(MPI.Exception, match="MPI_ERR_ARG: the split type is 9"):
            comm.Split_type(9)
        assert isinstance(MPI.Comm.Get_parent(), MPI.Intercomm) and not MPI.Intracomm()
        for bad in (MPI.Intracomm().Dup, MPI.COMM_NULL.Is_inter, lambda: MPI.COMM_NULL.Compare(comm)):
            with pytest.raises(MPI.Exception, match="MPI_ERR_COMM"):
                bad()
        with pytest.raises(TypeError):
            MPI.Comm([0, 1])
        return part.allgather(comm.rank)

    found = fw.mpi.run(program, ranks=4, host={"ranks_per_terminal": 2})
    assert found.returns == [[0, 1], [0, 1], [2, 3], [2, 3]]


def test_errors_are_numbers_and_programs_add_some() -> None:
    def program(comm: Any) -> None:
        error = MPI.Exception(MPI.ERR_RANK)
        assert error == MPI.ERR_RANK < MPI.Exception(MPI.ERR_LASTCODE) and int(error) == hash(error) == MPI.ERR_RANK
        assert repr(error) == f"MPI.Exception({MPI.ERR_RANK})" and not MPI.Exception(MPI.SUCCESS)
        copy = pickle.loads(pickle.dumps(MPI.Exception(MPI.ERR_TAG, "no tag")))
        assert (copy.error_code, str(copy)) == (MPI.ERR_TAG, "MPI_ERR_TAG: no tag") and MPI.Exception(
            -1
        ) == MPI.ERR_UNKNOWN
        kind = MPI.Add_error_class()
        code = MPI.Add_error_code(kind)
        MPI.Add_error_string(code, "out of luck")
        assert comm.Get_attr(MPI.LASTUSEDCODE) == code > kind > MPI.ERR_LASTCODE
        assert MPI.Get_error_class(code) == kind and str(MPI.Exception(code)) == "out of luck"
        for remove, number in ((MPI.Remove_error_code, code), (MPI.Remove_error_class, kind)):
            with pytest.raises(MPI.Exception, match="in use"):
                remove(number)
        MPI.Remove_error_string(code)
        MPI.Remove_error_code(code)
        MPI.Remove_error_class(kind)
        assert comm.Get_attr(MPI.LASTUSEDCODE) == MPI.ERR_LASTCODE

    fw.mpi.run(program, ranks=1)


def test_a_rank_says_how_its_objects_travel() -> None:
    def program(comm: Any) -> Any:
        if comm.rank == 0:
            say: Any = MPI.pickle.__init__
            say(lambda obj: json.dumps(obj).encode(), lambda data: json.loads(bytes(data)))
            comm.send({"a": [1]}, 1)
            return MPI.pickle.dumps([1]), MPI.pickle.PROTOCOL
        room = bytearray(100)
        status = MPI.Status()
        comm.Recv(room, 0, status=status)
        long = np.arange(5, dtype="i8")
        MPI.pickle.THRESHOLD = 8
        data, buffers = MPI.pickle.dumps_oob(long)
        assert len(buffers) == 1 and (MPI.pickle.loads_oob(data, buffers) == long).all()
        return bytes(room[: status.count]), MPI.pickle.PROTOCOL

    assert fw.mpi.run(program, ranks=2).returns == [(b"[1]", None), (b'{"a": [1]}', pickle.HIGHEST_PROTOCOL)]


def test_statuses_are_numbers_in_memory() -> None:
    def program(comm: Any) -> None:
        status = MPI.Status()
        comm.Sendrecv(np.ones(3), 0, 7, np.ones(3), 0, status=status)
        copy = MPI.Status.f2py(status.py2f())
        assert copy == status and copy.Get_count(MPI.DOUBLE) == 3 and status.py2f()[MPI.F_TAG] == 7
        memory = status.tomemory()
        memory[MPI.F_TAG] = 8
        assert status.Get_tag() == 8 and status.count == 24 and MPI.Status(status) == status != copy
        comm.Sendrecv(np.ones(1), 0, 9, np.ones(1), 0, status=status)
        assert memory[MPI.F_TAG] == 9 == pickle.loads(pickle.dumps(status)).tag and not status.is_cancelled

    fw.mpi.run(program, ranks=1)


def test_classes_of_programs_stand_for_what_they_are_made_of() -> None:
    class Own(MPI.Intracomm):  # type: ignore[misc, name-defined]
        def __new__(cls, comm: Any = None) -> Any:
            return super().__new__(cls, comm and comm.Dup())

    class Grid(MPI.Cartcomm):  # type: ignore[misc, name-defined]
        def __new__(cls, comm: Any = None) -> Any:
            return super().__new__(cls, comm and comm.Create_cart([comm.size]))

    class Hints(MPI.Info):  # type: ignore[misc, name-defined]
        def __new__(cls, info: Any = None) -> Any:
            return MPI.Info.__new__(cls, info)

    class Memory(MPI.Win):  # type: ignore[misc, name-defined]
        def __new__(cls, window: Any = None) -> Any:
            return MPI.Win.__new__(cls, window)

    class Tested(MPI.Request):  # type: ignore[misc, name-defined]
        def test(self) -> Any:
            return super().Test()

    def program(comm: Any) -> None:
        for kind in (Own, Grid):
            made = kind(comm)
            copy = made.Dup()
            assert type(copy) is kind and copy != made != comm and copy.allreduce(1) == comm.size
            copy.Free()
            assert not copy and not kind() and isinstance(copy, kind)
        with pytest.raises(TypeError, match="expecting a Cartcomm, not a Own"):
            MPI.Cartcomm(Own(comm))
        hints = Hints(MPI.Info.Create({"a": "1"}))
        assert type(hints.Dup()) is Hints and hints["a"] == "1"
        Memory(MPI.Win.Allocate(8, comm=comm)).Free()
        assert Tested(MPI.REQUEST_NULL).test() and not MPI.Prequest(MPI.REQUEST_NULL)

    fw.mpi.run(program, ranks=2)
