//! The step functions of collectives, for those who carry them out with data: rank programs.

use crate::errors;
use flitwork::Error;
use flitwork::collective::{
    BitOrder, Blocks, Collective, Exchange, Operation, RankGrid, Servers, Transfer, World, exchanges, find,
};
use flitwork::spec::fabric_from_json;
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyRange};

/// What a rank does in a step: to whom it sends which blocks, from whom it receives which, whether it adds, whether it
/// waits.
type StepTuple<'py> = (Option<u32>, Bound<'py, PyAny>, Option<u32>, Bound<'py, PyAny>, bool, bool);

/// An algorithm for so many ranks.
#[pyclass(frozen, module = "flitwork._core")]
pub struct CollectiveSteps {
    algorithm: Collective,
    world: World,
    steps: u32,
}

/// The name and the summary of every all-to-all: those among the collectives, then the orders by coordinates that are
/// not.
#[pyfunction]
pub fn all_to_alls() -> Vec<(&'static str, &'static str)> {
    exchanges().collect()
}

#[pymethods]
impl CollectiveSteps {
    /// The algorithm of this name for an operation; where it is not defined for these ranks, the one that takes its
    /// place, unless it is `required`. `topology` (JSON): a network that has the ranks in their order, for algorithms
    /// that go by coordinates. `terminals`: that of each rank, for algorithms that know servers. All-to-alls are those
    /// of `all_to_alls`.
    #[new]
    #[pyo3(signature = (operation, algorithm, ranks, root = 0, topology = None, terminals = None, required = false, radix = None,
        leaders = None, descending = false))]
    #[expect(clippy::too_many_arguments, reason = "keywords of Python")]
    fn new(
        py: Python<'_>,
        operation: &str,
        algorithm: &str,
        ranks: u32,
        root: u32,
        topology: Option<&str>,
        terminals: Option<Vec<u32>>,
        required: bool,
        radix: Option<u32>,
        leaders: Option<u32>,
        descending: bool,
    ) -> PyResult<Self> {
        let servers = terminals.map_or_else(|| Servers::one_each(ranks), |of| Servers::of_terminals(&of));
        let default = World::on(servers);
        let world = World {
            root,
            radix: radix.unwrap_or(default.radix),
            leaders: leaders.unwrap_or(default.leaders),
            order: if descending { BitOrder::Descending } else { BitOrder::Ascending },
            ..default
        };
        found(operation, algorithm, world, topology, required).map_err(|e| errors::to_python(py, &e))
    }

    /// Its name.
    #[getter]
    fn name(&self) -> &'static str {
        self.algorithm.name
    }

    /// Whether each block of an all-to-all goes from its source to its destination as a message of its own.
    #[getter]
    fn direct(&self) -> bool {
        self.algorithm.direct
    }

    /// Number of steps.
    #[getter]
    fn steps(&self) -> u32 {
        self.steps
    }

    /// Into how many pieces it cuts a vector; of operations on blocks their number.
    #[getter]
    fn pieces(&self) -> u32 {
        self.algorithm.pieces(&self.world)
    }

    /// Whether whatever is sent is the sum of consecutive ranks.
    #[getter]
    fn in_order(&self) -> bool {
        (self.algorithm.in_order)(&self.world)
    }

    /// What a rank does in a step; blocks as a range or a list of their numbers.
    fn step<'py>(&self, py: Python<'py>, rank: u32, step: u32) -> PyResult<StepTuple<'py>> {
        if rank >= self.world.ranks || step >= self.steps {
            return Err(PyIndexError::new_err(format!("step {step} of rank {rank}")));
        }
        let at_step = (self.algorithm.step)(&self.world, rank, step);
        let (to, sent) = ends(py, at_step.send)?;
        let (from, came) = ends(py, at_step.receive)?;
        Ok((to, sent, from, came, at_step.adds, at_step.waits))
    }
}

fn found(
    operation: &str,
    algorithm: &str,
    world: World,
    topology: Option<&str>,
    required: bool,
) -> Result<CollectiveSteps, Error> {
    let operation = Operation::ALL.into_iter().find(|one| one.name() == operation).ok_or_else(|| {
        let names = Operation::ALL.map(Operation::name).join(", ");
        Error::config("operation", operation, format!("one of {names}"), "")
    })?;
    let fabric = topology.map(fabric_from_json).transpose()?;
    let grid = fabric.as_ref().and_then(|fabric| fabric.grid_of_ranks(world.ranks)).map(RankGrid::from);
    if operation == Operation::AllToAll && find(operation, algorithm).is_err() && is_exchange(algorithm) {
        let made = Exchange::new(algorithm, world, grid.as_ref())?;
        let (algorithm, world) = (*made.collective(), made.world().clone());
        return Ok(CollectiveSteps { algorithm, world, steps: made.steps() });
    }
    let mut algorithm = find(operation, algorithm)?;
    loop {
        let world = World { destinations: algorithm.destinations(grid.as_ref())?, ..world.clone() };
        match (algorithm.check(&world), algorithm.ranks.otherwise().filter(|_| !required)) {
            (Ok(()), _) => {
                return Ok(CollectiveSteps { algorithm: *algorithm, steps: (algorithm.steps)(&world), world });
            }
            (Err(_), Some(otherwise)) => algorithm = find(operation, otherwise)?,
            (Err(error), None) => return Err(error.into()),
        }
    }
}

fn is_exchange(name: &str) -> bool {
    exchanges().any(|(known, _)| known == name)
}

fn ends(py: Python<'_>, transfer: Option<Transfer>) -> PyResult<(Option<u32>, Bound<'_, PyAny>)> {
    Ok(match transfer {
        None => (None, py.None().into_bound(py)),
        Some(Transfer { peer, blocks: Blocks::Run { first, count, of } }) if first + count <= of => {
            (Some(peer), PyRange::new(py, first as isize, (first + count) as isize)?.into_any())
        }
        Some(Transfer { peer, blocks }) => (Some(peer), PyList::new(py, blocks.list())?.into_any()),
    })
}
