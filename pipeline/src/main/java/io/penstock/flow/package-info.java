/// Recipes: pipelines of stages that do a whole job against any [io.penstock.tier.BlockTier], in memory, on disk or
/// remote.
///
/// | recipe | does |
/// |---|---|
/// | [io.penstock.flow.LoadPrefix] | the longest cached prefix of a list of keys, as blocks or layer by layer |
/// | [io.penstock.flow.LoadOrCompute] | all blocks of a request layer by layer; blocks that no tier has are computed |
/// | [io.penstock.flow.OffloadPrefix] | finished blocks, or layers as they are computed, into a tier; receipts out |
/// | [io.penstock.flow.PullBlocks] | parts of blocks of several peers, as a plan says, into the blocks of a rank |
/// | [io.penstock.flow.PushLayers] | layers of requests that are being computed, to the ranks that asked for them |
///
/// A recipe is given the scope that owns what it emits. Wrap the whole pipeline, consumption included:
/// `Flux.using(BlockScope::new, scope -> LoadPrefix.layers(tier, keys, shape, scope)…, BlockScope::close)`.
@NullMarked
package io.penstock.flow;

import org.jspecify.annotations.NullMarked;
