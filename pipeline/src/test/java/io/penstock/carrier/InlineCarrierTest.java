package io.penstock.carrier;

import io.penstock.block.SlabArena.ChunkSource;
import io.penstock.testkit.CarrierContract;

final class InlineCarrierTest extends CarrierContract {
  @Override
  protected Ends connect() {
    return new Ends(InlineCarrier.INSTANCE, InlineCarrier.INSTANCE, () -> {});
  }

  @Override
  protected ChunkSource chunks() {
    return ChunkSource.ofSystem();
  }
}
