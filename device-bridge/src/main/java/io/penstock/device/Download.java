package io.penstock.device;

import io.penstock.block.Block;
import io.penstock.block.BlockArena;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.GranuleRange;
import io.penstock.operator.Quiet;
import io.penstock.stage.Batch;
import io.penstock.stage.Stage;
import io.penstock.tier.spi.QueuedClaim;
import java.util.List;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/// Copies blocks from the memory of a device, for [DeviceBridge#download].
final class Download {
  private final BlockCopies copies;
  private final Batch.Options batch;
  private final Scheduler timer;

  Download(BlockCopies copies, Batch.Options batch, Scheduler timer) {
    this.copies = copies;
    this.batch = batch;
    this.timer = timer;
  }

  Stage<DeviceBlock, Block> into(BlockArena arena, BlockScope scope) {
    int most = (int) Math.min(batch.maxCount(), arena.capacitySlots());
    Stage<DeviceBlock, List<DeviceBlock>> gather =
        Batch.of(batch.withMaxCount(most), block -> block.layout().blockBytes(), timer);
    return blocks -> Quiet.afterCancel(gather.apply(blocks).concatMap(window -> download(window, arena, scope), 0));
  }

  private Flux<Block> download(List<DeviceBlock> window, BlockArena arena, BlockScope scope) {
    List<BlockKey> keys = window.stream().map(DeviceBlock::key).toList();
    return Quiet.afterCancel(QueuedClaim.<BlockDraft>of((granted, failed) -> arena.claim(keys, granted, failed), scope)
        .flatMapMany(drafts -> arrive(window, drafts, scope))
        .doFinally(end -> window.forEach(DeviceBlock::close)));
  }

  private Flux<Block> arrive(List<DeviceBlock> window, List<BlockDraft> drafts, BlockScope scope) {
    return copies.toHost(window, drafts, GranuleRange.all(window.getFirst().layout()))
        .then(Mono.fromSupplier(() -> drafts.stream().map(draft -> scope.adopt(draft.seal())).toList()))
        .flatMapMany(OwnershipTransfer::oneByOne)
        .doFinally(end -> drafts.forEach(BlockDraft::close)); // drafts that were not sealed
  }
}
