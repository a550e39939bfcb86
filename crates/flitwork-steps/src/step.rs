//! What one rank does in one step: at most one message out and one in, posted together.

use super::blocks::Blocks;

/// One step of one rank. The messages of a step are posted together, the receive first.
#[derive(Debug, Clone, Default)]
pub struct Step {
    /// What the rank sends.
    pub send: Option<Transfer>,
    /// What the rank receives: the same blocks in the same order as its peer sends.
    pub receive: Option<Transfer>,
    /// Whether what is received is added to what the rank holds of the same blocks (a reduction); else it is put in
    /// their place.
    pub adds: bool,
    /// Whether the rank waits, before its next step, until all that it posted is complete: `MPI_Sendrecv`. Without it
    /// the next step is posted at once, and may not use what this one receives.
    pub waits: bool,
}

/// One message, as one of its ends sees it.
#[derive(Debug, Clone)]
pub struct Transfer {
    /// The rank at the other end.
    pub peer: u32,
    /// The blocks that the message carries.
    pub blocks: Blocks,
}

impl Transfer {
    /// A message to, or from, `peer`.
    pub fn new(peer: u32, blocks: Blocks) -> Self {
        Transfer { peer, blocks }
    }
}

impl Step {
    /// Sends to one rank and receives from another, or the same, and waits for both.
    pub fn exchange(send: Transfer, receive: Transfer) -> Self {
        Step { send: Some(send), receive: Some(receive), adds: false, waits: true }
    }

    /// Sends, and waits until it has left.
    pub fn send(to: u32, blocks: Blocks) -> Self {
        Step { send: Some(Transfer::new(to, blocks)), waits: true, ..Step::default() }
    }

    /// Receives, and waits for it.
    pub fn receive(from: u32, blocks: Blocks) -> Self {
        Step { receive: Some(Transfer::new(from, blocks)), waits: true, ..Step::default() }
    }

    /// This step, but what it receives is added to what the rank holds.
    #[must_use]
    pub fn adding(self) -> Self {
        Step { adds: true, ..self }
    }

    /// This step, but the rank waits for its messages only if `waits`.
    #[must_use]
    pub fn waiting(self, waits: bool) -> Self {
        Step { waits, ..self }
    }
}
