/// A network, its clock and its schedulers in one thread under one seed, with faults on demand.
///
/// [SimulatedTime] runs every task of a simulated world in one thread and in virtual time, ties broken by the seed;
/// [SimulatedLink] carries RSocket's frames between two parties of that world with the send queue and the limits of the
/// real transport. The real RSocket core runs above it, unchanged. Used by tests and by the node's simulations, never
/// in service.
@NullMarked
package io.penstock.wire.simulate;

import org.jspecify.annotations.NullMarked;
