package io.penstock.device;

import io.penstock.block.Block;
import io.penstock.block.BlockScope;
import io.penstock.operator.InTurn;
import io.penstock.operator.Quiet;
import io.penstock.stage.Batch;
import io.penstock.stage.Stage;
import io.penstock.tier.spi.QueuedClaim;
import java.util.List;
import reactor.core.publisher.Flux;
import reactor.core.scheduler.Scheduler;

/// Copies blocks into the memory of a device, for [DeviceBridge#upload].
final class Upload {
  private final BlockCopies copies;
  private final DeviceSlots slots;
  private final Stage<Block, List<Block>> gather;

  Upload(BlockCopies copies, DeviceSlots slots, Batch.Options batch, Scheduler timer) {
    this.copies = copies;
    this.slots = slots;
    this.gather = Batch.blocks(batch, timer);
  }

  Stage<Block, DeviceBlock> into(BlockScope scope) {
    return blocks -> Quiet
        .afterCancel(gather.apply(blocks.doOnNext(this::require)).concatMap(window -> upload(window, scope), 0));
  }

  private Flux<DeviceBlock> upload(List<Block> window, BlockScope scope) {
    return Quiet
        .afterCancel(QueuedClaim.<DeviceBlock>of((granted, failed) -> slots.claim(window, granted, failed), scope)
            .flatMapMany(places -> InTurn.of(copies.toDevice(window, places), OwnershipTransfer.oneByOne(places)))
            .doFinally(end -> window.forEach(Block::close)));
  }

  private void require(Block block) {
    if (!block.layout().equals(slots.layout())) {
      throw new IllegalArgumentException(
          "layout must be that of the bridge, " + slots.layout() + " (was " + block.layout() + ")");
    }
  }
}
