package io.penstock.device;

import static java.util.Objects.requireNonNull;

import io.penstock.block.Block;
import io.penstock.block.BlockArena;
import io.penstock.block.BlockLayout;
import io.penstock.block.BlockScope;
import io.penstock.check.Checks;
import io.penstock.operator.Quiet;
import io.penstock.stage.Stage;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;
import java.util.function.ToIntFunction;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/// Several devices side by side, each behind its own [DeviceBridge], with its own slots, turns, queue and thread.
/// Blocks of a stream go to their devices at the same time, gathered for each device and each way.
///
/// The name of a device is its index in the list that opened the plane: its rank in the tensor-parallel group on this
/// host, never the global one. Devices stay the caller's.
public final class DevicePlane {
  private final List<DeviceBridge> bridges;
  private final int lagBlocks;

  private DevicePlane(List<DeviceBridge> bridges, int lagBlocks) {
    this.bridges = List.copyOf(bridges);
    this.lagBlocks = lagBlocks;
  }

  /// Opens a bridge to each of `devices`, one after the other.
  ///
  /// @param devices in the order of their ranks
  /// @param options of each bridge
  /// @param lagBlocks most blocks of a stream that wait for their devices, all devices together: a slow device delays
  ///     the others only once this many wait
  /// @param timer clock and thread of the delay after which a batch goes out
  /// @return cold; signals what [DeviceBridge#open] does, with the memory of the others freed, as after a cancel
  public static Mono<DevicePlane> open(List<? extends Device> devices, BlockLayout layout, DeviceBridgeOptions options,
      int lagBlocks,
      Scheduler timer) {
    if (devices.isEmpty()) {
      throw new IllegalArgumentException("devices must be > 0 (was 0)");
    }
    Checks.positive("lagBlocks", lagBlocks);
    List<Device> ranks = List.copyOf(devices);
    return Mono.defer(() -> {
      List<DeviceBridge> opened = new ArrayList<>();
      Mono<DevicePlane> plane = Flux.range(0, ranks.size())
          .concatMap(rank -> DeviceBridge.open(ranks.get(rank), layout, options, timer).doOnNext(opened::add), 0)
          .then(Mono.fromSupplier(() -> new DevicePlane(opened, lagBlocks)));
      return OwnershipTransfer.orRelease(plane, () -> opened.forEach(DeviceBridge::giveUp),
          unreceived -> opened.forEach(DeviceBridge::giveUp));
    });
  }

  /// Devices there are.
  public int count() {
    return bridges.size();
  }

  /// The bridge to the device of `rank`, for a stream that goes there alone.
  public DeviceBridge bridge(int rank) {
    return bridges.get(requireRank(rank));
  }

  /// Blocks into the memory of the devices that `rank` names.
  ///
  /// | | |
  /// |---|---|
  /// | order | that of the source for each device; none among devices |
  /// | backpressure | pulls up to `lagBlocks` ahead, and what each bridge gathers |
  /// | copies | up to one block a device ahead of demand |
  /// | slow | blocks for a busy device wait, within `lagBlocks`; the other devices go on |
  /// | threads | emits on the threads of the devices, one at a time |
  /// | signals | as [DeviceBridge#upload] does, by whichever device; the others are cancelled |
  ///
  /// Everything else as in [DeviceBridge#upload].
  ///
  /// @param rank of a block's device, in [0, [#count])
  /// @param scope owns the blocks emitted
  public Stage<Block, DeviceBlock> upload(ToIntFunction<? super Block> rank, BlockScope scope) {
    requireNonNull(rank, "rank");
    requireNonNull(scope, "scope");
    return lanes(rank, number -> bridges.get(number).upload(scope));
  }

  /// Blocks from the memory of whichever device they are on; everything as in [#upload] and [DeviceBridge#download].
  ///
  /// @param scope owns the blocks emitted
  public Stage<DeviceBlock, Block> download(BlockArena arena, BlockScope scope) {
    requireNonNull(scope, "scope");
    return lanes(this::rankOf, number -> bridges.get(number).download(arena, scope));
  }

  private <I, O> Stage<I, O> lanes(ToIntFunction<? super I> rank, IntFunction<Stage<I, O>> stage) {
    return blocks -> Quiet.afterCancel(blocks.groupBy(block -> requireRank(rank.applyAsInt(block)), lagBlocks)
        .flatMap(lane -> lane.transform(stage.apply(lane.key())), bridges.size(), 1));
  }

  private int rankOf(DeviceBlock block) {
    for (int rank = 0; rank < bridges.size(); rank++) {
      if (bridges.get(rank).has(block)) {
        return rank;
      }
    }
    throw new IllegalArgumentException("block must be on a device of this plane (was " + block + ")");
  }

  private int requireRank(int rank) {
    if (rank < 0 || rank >= bridges.size()) {
      throw new IllegalArgumentException(
          "rank must be in [0, " + bridges.size() + "), the devices of this host (was " + rank + ")");
    }
    return rank;
  }

  /// Closes every bridge, also if one of them fails. Lazy and idempotent.
  public Mono<Void> close() {
    return Mono.whenDelayError(bridges.stream().map(DeviceBridge::close).toList());
  }
}
