package io.penstock.wire.client.get;

import io.penstock.block.BlockArena;
import io.penstock.block.SliceShape;
import io.penstock.block.SpaceId;
import io.penstock.budget.Permits;
import io.penstock.tier.OnMiss;
import io.penstock.wire.client.link.AnswerLimit;
import io.penstock.wire.protocol.ControlCodec;
import java.util.function.UnaryOperator;

/// Settings for receiving a `get` stream.
///
/// @param arena where slices land
/// @param budget of bytes in flight
/// @param creditSlices maximum slices asked for ahead
/// @param onMiss reaction of the node to keys that it does not have
/// @param answers ends a stream whose node is silent for too long
/// @param peer named when it is
/// @param errors turns errors of the connection into errors for the reader
public record GetSetting(BlockArena arena, SpaceId space, Permits budget, int maxSliceBytes, int windowBlocks,
    int creditSlices, int startLayer, SliceShape.Order order, OnMiss onMiss, ControlCodec codec,
    AnswerLimit answers, String peer, UnaryOperator<Throwable> errors) {
  /// The same for another decision on keys that the node does not have.
  GetSetting on(OnMiss other) {
    return other == onMiss
        ? this
        : new GetSetting(arena, space, budget, maxSliceBytes, windowBlocks, creditSlices, startLayer, order, other,
            codec, answers, peer, errors);
  }

  /// Slices that `blocks` take if each is full; a window says exactly how many follow.
  long slices(int blocks) {
    return Math.ceilDiv(blocks * bytesOfBlock(), maxSliceBytes);
  }

  /// Bytes of a block from the first layer that is fetched.
  long bytesOfBlock() {
    return (long) arena.layout().layerBytes() * (arena.layout().layers() - startLayer);
  }
}
