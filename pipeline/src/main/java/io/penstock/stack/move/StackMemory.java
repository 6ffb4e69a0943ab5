package io.penstock.stack.move;

import static java.util.Objects.requireNonNull;

import io.penstock.block.SlabArena;
import io.penstock.block.SlabArena.ChunkSource;
import io.penstock.block.SlabPart;
import io.penstock.stack.shape.StackLevel;
import io.penstock.stack.shape.StackOptions;
import io.penstock.stack.shape.StackShape;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The host memory of a `TierStack`, divided by purpose, so that no use takes the slots of another. Immutable; the
/// parts are safe from any thread.
///
/// The holder of a slot may wait for a slot of a later part of this list, and of no earlier part:
///
/// - `ingress`: blocks being written, and written blocks that have to move on. They wait for a slot of a device,
///   `resident`, or the disk.
/// - `transfer`, one for each store: windows that are read for readers, with no block from a slower store. They wait
///   for readers only.
/// - `promotion`: blocks that were read and are promoted. They wait for a slot of a device, or `resident`.
/// - `resident`: blocks of the host level, and a few beyond its capacity. They wait for a slot of a device to be
///   promoted, and for the disk to be demoted.
/// - `bounce`: blocks on their way from a device to a disk. They wait for the disk.
///
/// A block on a device waits for `resident` when it is demoted, so a block that is promoted and one that is demoted
/// might wait for each other. They cannot, because `resident` has R > 0 slots beyond the level's capacity D. Assume
/// that all H slots of the device and all D + R slots are taken, and that no disk helps. Of the blocks in `resident`, x
/// are to be promoted and y stay: x + y = D + R. Of the blocks on the device, v are to be demoted and u stay: u + v =
/// H. The ledger puts at most H blocks on the device, u + x ≤ H, so x ≤ v; and at most D in host memory, y + v ≤ D, so
/// v ≤ x − R. Hence R ≤ 0. So some copy goes on as long as a block is not where it belongs and no reader holds what it
/// needs.
///
/// Where the first level is host memory, blocks are written where they stay, and ingress is one with `resident`.
public final class StackMemory {
  private final SlabArena arena;
  private final SlabPart ingress;
  private final @Nullable SlabPart resident;
  /// Slots by level; null at the level of host memory.
  private final @Nullable SlabPart[] transfer;
  private final @Nullable SlabPart promotion;
  private final @Nullable SlabPart bounce;

  public StackMemory(StackShape shape) {
    StackOptions options = shape.options();
    List<StackLevel> levels = shape.levels();
    int host = shape.host();
    int storeCount = levels.size() - (host < 0 ? 0 : 1);
    boolean stores = shape.hasStores();
    long capacity = host < 0 ? 0 : Math.min(levels.get(host).capacityBlocks(), Integer.MAX_VALUE);
    long resting = host == 0 ? capacity + options.ingressBlocks() : host > 0 ? capacity + options.bounceBlocks() : 0;
    long moving =
        stores ? (long) storeCount * options.transferBlocks() + options.promotionBlocks() + options.bounceBlocks() : 0;
    int writing = host == 0 ? 0 : options.ingressBlocks();
    if (moving + options.ingressBlocks() >= Integer.MAX_VALUE) {
      throw new IllegalArgumentException("slots beyond the capacity must be < %d in sum (was %d)"
          .formatted(Integer.MAX_VALUE, moving + options.ingressBlocks()));
    }
    resting = Math.min(resting, Integer.MAX_VALUE - moving - writing);
    int slots = (int) (resting + moving + writing);
    String name = options.name();
    int waiters = options.maxWaiters();
    long most = host >= 0 && levels.get(host) instanceof StackLevel.Host memory
        ? Math.min(memory.mostBlocks(shape.layout().blockBytes()), Integer.MAX_VALUE)
        : 0;
    int movers = (int) Math.min(Integer.MAX_VALUE, waiters + slots + most + deviceSlots(shape));
    this.arena = new SlabArena(name, shape.layout(), slots, waiters, shape.inputs().chunks(), shape.inputs());
    this.resident =
        host < 0 ? null : arena.part(name + " resident", (int) resting, host == 0 && !stores ? waiters : movers);
    this.ingress = host == 0 ? requireNonNull(resident) : arena.part(name + " ingress", writing, waiters);
    this.transfer = new SlabPart[levels.size()];
    for (int level = 0; level < levels.size(); level++) {
      transfer[level] = level == host
          ? null
          : arena.part(name + " transfer from " + levels.get(level).name(), options.transferBlocks(), waiters);
    }
    this.promotion = stores ? arena.part(name + " promotion", options.promotionBlocks(), movers) : null;
    this.bounce = stores ? arena.part(name + " bounce", options.bounceBlocks(), movers) : null;
  }

  /// Slots of the devices above host memory. All their blocks may wait to be demoted at one time.
  private static long deviceSlots(StackShape shape) {
    long slots = 0;
    for (int i = 0; i < Math.max(0, shape.host() < 0 ? shape.levels().size() : shape.host()); i++) {
      slots += Math.min(shape.levels().get(i).capacityBlocks(), Integer.MAX_VALUE);
    }
    return slots;
  }

  public SlabArena arena() {
    return arena;
  }

  /// Slots for writers.
  public SlabPart ingress() {
    return ingress;
  }

  public SlabPart resident() {
    return requireNonNull(resident, "host level");
  }

  /// @param level of the slowest store that the window is read from, so that a slow store delays its own windows only
  public SlabPart transfer(int level) {
    return requireNonNull(transfer[level], "store");
  }

  public SlabPart promotion() {
    return requireNonNull(promotion, "stores");
  }

  SlabPart bounce() {
    return requireNonNull(bounce, "stores");
  }
}
