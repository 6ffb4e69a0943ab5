/// One verb each: stages are functions from `Flux` to `Flux`, composed with `transform` or
/// [io.penstock.stage.Stage#then].
///
/// | stage | does | holds at most |
/// |---|---|---|
/// | [io.penstock.stage.Batch] | elements → lists; first of count, bytes, delay | one batch |
/// | [io.penstock.stage.SplitLayers] | windows of blocks → slices | two windows |
/// | [io.penstock.stage.JoinLayers] | slices → blocks, verified | one window of drafts, one slice |
/// | [io.penstock.stage.Fetch] | keys → blocks of a tier, in order | `concurrency` × (`GET_WINDOW` + 1) blocks |
/// | [io.penstock.stage.Store] | blocks → receipts of a tier | two windows |
/// | [io.penstock.stage.Verify] | lets pass what equals its checksums | nothing |
/// | [io.penstock.stage.Coalesce] | one read for many waiters of a key | `maxReads` reads |
/// | [io.penstock.stage.Pace] | a rate, or a trace's own time | one element |
/// | [io.penstock.stage.FanOut] | one source, many destinations | `lagElements`, `lagBytes` a destination |
///
/// Three rules hold for all of them. *Demand* comes from downstream only: whatever a stage takes ahead of it is named
/// in its contract and bounded. *Owned* elements belong to scopes: a stage that opens a handle is given the scope that
/// owns it, a stage that takes handles over closes them, and what an operator drops on a cancel the scope of its
/// producer closes. *Threads* and clocks are given: no stage picks a scheduler, and none blocks.
@NullMarked
package io.penstock.stage;

import org.jspecify.annotations.NullMarked;
