//! Time limits: the deadline of a request, and a timer for repeated waits.

pub(crate) mod deadline;
pub(crate) mod idle_end;
pub(crate) mod suspension;
pub(crate) mod timer;
