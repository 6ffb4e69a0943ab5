/// A whole cluster in one thread under one seed: real tier, server, clients and RSocket over links of virtual time that
/// stall, cut and corrupt; a naive model predicts the result of every step.
@NullMarked
package io.penstock.lab.simulate;

import org.jspecify.annotations.NullMarked;
