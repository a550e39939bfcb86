//! All-to-alls by their names, rows of [`COLLECTIVES`] and orders by coordinates alike: what runs them need not know
//! which is which.

use crate::all_to_all::{ALGORITHMS, goes_by_rank};
use crate::{COLLECTIVES, Collective, Destinations, Error, Operation, RankGrid, Result, Step, World, find};
use std::sync::Arc;

/// The row that carries out any order of destinations.
const BY_DESTINATIONS: &str = "a2at";

/// An all-to-all of a world.
#[derive(Debug, Clone)]
pub struct Exchange {
    collective: Collective,
    world: World,
    steps: u32,
}

impl Exchange {
    /// The all-to-all `name` in a world, where `grid` has one rank at each router.
    ///
    /// # Errors
    /// [`Error`] names what is not defined there, and what to take instead.
    pub fn new(name: &str, world: World, grid: Option<&RankGrid>) -> Result<Self> {
        let row = rows().find(|row| row.name == name);
        let (collective, destinations) = match row {
            Some(row) => (*row, row.destinations(grid)?),
            None => by_destinations(name, &world, grid)?,
        };
        let world = World { destinations, ..world };
        collective.check(&world)?;
        let steps = (collective.steps)(&world);
        Ok(Exchange { collective, world, steps })
    }

    /// The row of the algorithm in the table, or one made of an order.
    pub fn collective(&self) -> &Collective {
        &self.collective
    }

    /// What its steps know.
    pub fn world(&self) -> &World {
        &self.world
    }

    /// Number of ranks.
    pub fn ranks(&self) -> u32 {
        self.world.ranks
    }

    /// Number of steps.
    pub fn steps(&self) -> u32 {
        self.steps
    }

    /// What a rank does in a step, both below their numbers.
    pub fn step(&self, rank: u32, step: u32) -> Step {
        (self.collective.step)(&self.world, rank, step)
    }

    /// Whether each block goes from its source to its destination as a message of its own.
    pub fn is_direct(&self) -> bool {
        self.collective.direct
    }
}

/// The name and the summary of every all-to-all.
pub fn names() -> impl Iterator<Item = (&'static str, &'static str)> {
    let orders = ALGORITHMS.iter().filter(|order| rows().all(|row| row.name != order.name));
    rows().map(|row| (row.name, row.summary)).chain(orders.map(|order| (order.name, order.summary)))
}

fn rows() -> impl Iterator<Item = &'static Collective> {
    COLLECTIVES.iter().filter(|row| row.operation == Operation::AllToAll)
}

/// An order of destinations, all messages posted at once.
fn by_destinations(
    name: &str,
    world: &World,
    grid: Option<&RankGrid>,
) -> Result<(Collective, Option<Arc<Destinations>>)> {
    let Some(order) = ALGORITHMS.iter().find(|order| order.name == name) else {
        let names: Vec<&str> = names().map(|(name, _)| name).collect();
        return Err(Error::unknown(name, format!("one of {}", names.join(", ")), names));
    };
    // One that counts ranks is defined on any grid, so also where none is known.
    let line = (goes_by_rank(name)? && world.ranks >= 2).then(|| RankGrid::mesh(&[world.ranks]));
    let destinations = match line.as_ref().or(grid) {
        Some(grid) => Some(Arc::new(Destinations::of(name, grid)?)),
        None => None,
    };
    let row = find(Operation::AllToAll, BY_DESTINATIONS)?;
    Ok((Collective { name: order.name, summary: order.summary, paper: order.paper, ..*row }, destinations))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Servers;

    /// Whether all messages of a world are one block each, from its source to its destination.
    fn is_direct(exchange: &Exchange) -> bool {
        let all = (0..exchange.ranks()).flat_map(|rank| (0..exchange.steps()).map(move |step| (rank, step)));
        let mut sends = all.filter_map(|(rank, step)| Some((rank, exchange.step(rank, step).send?)));
        sends.all(|(rank, send)| send.blocks.list() == [exchange.world.pair(rank, send.peer)])
    }

    #[test]
    fn what_is_said_to_be_direct_is_and_the_others_are_not() {
        let grid = RankGrid::torus(&[4, 2]);
        let servers = Servers::of_terminals(&[0, 0, 1, 1, 1, 1, 2, 2]);
        for (name, _) in names() {
            let exchange = Exchange::new(name, World::on(servers.clone()), Some(&grid)).unwrap();
            assert_eq!(is_direct(&exchange), exchange.is_direct(), "{name}");
        }
    }

    #[test]
    fn orders_are_exchanges_too() {
        assert_eq!(names().filter(|(name, _)| ["a2a", "a2and_x_inner", "a2at"].contains(name)).count(), 3);
        let a2a = Exchange::new("a2a", World::of(5), None).unwrap();
        let spread = Exchange::new("simple_spread", World::of(5), None).unwrap();
        let first_steps =
            |exchange: &Exchange| (0..4).map(|step| format!("{:?}", exchange.step(3, step))).collect::<Vec<_>>();
        assert_eq!(first_steps(&a2a), first_steps(&spread));
        let fault = |name: &str, ranks| Exchange::new(name, World::of(ranks), None).unwrap_err().to_string();
        let x_inner = fault("a2and_x_inner", 8);
        assert!(x_inner.contains("a2and_x_inner is defined for one rank at each router of a grid"), "{x_inner}");
        assert!(fault("bruk", 8).contains("algorithm = bruk: expected one of pairwise_xor, "), "{}", fault("bruk", 8));
        assert!(fault("a2a", 1).contains("at least 2 ranks"));
    }
}
