/// One verb each: stages are functions from `Flux` to `Flux`, composed with `transform` or
/// [io.penstock.stage.Stage#then].
///
/// | stage | does | holds at most |
/// |---|---|---|
/// | [io.penstock.stage.Batch] | elements → lists; first of count, bytes, delay | one batch |
/// | [io.penstock.stage.SplitLayers] | windows of blocks → slices | one window |
/// | [io.penstock.stage.Fetch] | keys → blocks of a tier, in order | `concurrency` × (`GET_WINDOW` + 1) blocks |
/// | [io.penstock.stage.Store] | batches of blocks → receipts of a tier | one batch |
/// | [io.penstock.stage.Pace] | a rate, or a trace's own time | one element |
///
/// Recipes made of them are in [io.penstock.flow].
///
/// Three rules hold for all of them. *Demand* comes from downstream only: a stage names and bounds what it takes ahead
/// of demand. *Owned* elements belong to scopes: a stage that opens a handle is given the scope that owns the handle,
/// and a stage that takes handles over closes them. The scope of the producer closes elements that an operator drops on
/// a cancel. *Threads* and clocks are given: no stage picks a scheduler or blocks.
@NullMarked
package io.penstock.stage;

import org.jspecify.annotations.NullMarked;
