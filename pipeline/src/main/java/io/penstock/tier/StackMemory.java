package io.penstock.tier;

import static java.util.Objects.requireNonNull;

import io.penstock.block.BlockLayout;
import io.penstock.block.ChunkSource;
import io.penstock.block.SlabArena;
import io.penstock.block.SlabPart;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The host memory of a [TierStack], divided by purpose so that nobody's slots are taken by another.
///
/// Whoever holds a slot of one part may wait for one of a later part, never the other way round:
///
/// | part | for | waits for |
/// |---|---|---|
/// | ingress | blocks being written, and written ones that have to move on | a place on a device, `resident`, the disk |
/// | transfer, of each store | windows on their way up to readers, of which no block comes from a slower store | readers only |
/// | promotion | blocks that were read and are to rest higher up | a place on a device, `resident` |
/// | resident | blocks at rest in host memory, and a few beyond the capacity of that level | a place on a device (to rise), the disk (to sink) |
/// | bounce | blocks on their way from a device to a disk | the disk |
///
/// A place on a device waits for `resident` (to sink), so a block that rises from there and one that sinks to it might
/// wait for each other. They cannot, because `resident` has R > 0 slots beyond the level's capacity D. Say that all H
/// places and all D + R slots are taken and no disk can help: x of the slots' blocks want to rise and y rest, x + y = D
/// + R; v of the places' blocks want to sink and u rest, u + v = H. The books put at most H blocks on the device, u + x
/// ≤ H, so x ≤ v; and at most D in host memory, y + v ≤ D, so v ≤ x − R. Hence R ≤ 0. So as long as a block is not
/// where it belongs, and no reader holds what stands in the way, some copy goes on.
///
/// Where the first level is host memory, blocks are written where they rest, and ingress is one with `resident`.
final class StackMemory {
  final SlabArena arena;
  /// Whose slots the writers get.
  final SlabPart ingress;
  private final @Nullable SlabPart resident;
  /// By level; null where there is host memory.
  private final @Nullable SlabPart[] transfer;
  private final @Nullable SlabPart promotion;
  private final @Nullable SlabPart bounce;

  StackMemory(BlockLayout layout, List<Level> levels, int host, StackOptions options, ChunkSource chunks) {
    int storeCount = levels.size() - (host < 0 ? 0 : 1);
    boolean stores = storeCount > 0;
    long capacity = host < 0 ? 0 : Math.min(levels.get(host).capacityBlocks(), Integer.MAX_VALUE);
    long resting = host == 0 ? capacity + options.ingressBlocks() : host > 0 ? capacity + options.bounceBlocks() : 0;
    long moving =
        stores ? (long) storeCount * options.transferBlocks() + options.promotionBlocks() + options.bounceBlocks() : 0;
    int writing = host == 0 ? 0 : options.ingressBlocks();
    if (moving + options.ingressBlocks() >= Integer.MAX_VALUE) {
      throw new IllegalArgumentException(
          "slots beyond the capacity must be < %d in sum (was %d)".formatted(Integer.MAX_VALUE,
              moving + options.ingressBlocks()));
    }
    resting = Math.min(resting, Integer.MAX_VALUE - moving - writing);
    this.arena =
        new SlabArena(options.name(), layout, (int) (resting + moving + writing), options.maxWaiters(), chunks);
    int movers = (int) Math.min(Integer.MAX_VALUE,
        (long) options.maxWaiters() + resting + moving + writing + places(levels, host));
    this.resident = host < 0
        ? null
        : arena.part(options.name() + " resident", (int) resting, host == 0 && !stores
            ? options.maxWaiters()
            : movers);
    this.ingress =
        host == 0 ? requireNonNull(resident) : arena.part(options.name() + " ingress", writing, options.maxWaiters());
    this.transfer = new SlabPart[levels.size()];
    for (int level = 0; level < levels.size(); level++) {
      transfer[level] = level == host
          ? null
          : arena.part(options.name() + " transfer from " + levels.get(level).name(), options.transferBlocks(),
              options.maxWaiters());
    }
    this.promotion = stores ? arena.part(options.name() + " promotion", options.promotionBlocks(), movers) : null;
    this.bounce = stores ? arena.part(options.name() + " bounce", options.bounceBlocks(), movers) : null;
  }

  /// Places on devices above host memory: their blocks may all wait to sink.
  private static long places(List<Level> levels, int host) {
    long places = 0;
    for (int i = 0; i < Math.max(0, host < 0 ? levels.size() : host); i++) {
      places += Math.min(levels.get(i).capacityBlocks(), Integer.MAX_VALUE);
    }
    return places;
  }

  SlabPart resident() {
    return requireNonNull(resident, "host level");
  }

  /// @param level of the slowest store that the window is read from: others do not wait for what that one leaves lying
  SlabPart transfer(int level) {
    return requireNonNull(transfer[level], "store");
  }

  SlabPart promotion() {
    return requireNonNull(promotion, "stores");
  }

  SlabPart bounce() {
    return requireNonNull(bounce, "stores");
  }
}
