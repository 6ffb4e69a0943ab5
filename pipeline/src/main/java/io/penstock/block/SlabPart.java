package io.penstock.block;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// A right to some slots of a [SlabArena], with a queue of its own: no other use takes them.
///
/// A slot that was lent is charged to a part until its last handle closes; [#tryAdopt] and [#adopt] charge it to
/// another one without moving a byte. Safe from any thread.
public final class SlabPart implements BlockArena {
  private final SlabArena arena;
  private final Permits slots;

  SlabPart(SlabArena arena, String name, int capacitySlots, int maxWaiters) {
    this.arena = arena;
    this.slots = new Permits(name, capacitySlots, maxWaiters);
  }

  @Override
  public BlockLayout layout() {
    return arena.layout();
  }

  @Override
  public @Nullable List<BlockDraft> tryClaim(List<BlockKey> keys) {
    return slots.tryAcquire(keys.size()) ? lend(keys) : null;
  }

  @Override
  public Permits.Ticket claim(List<BlockKey> keys, Consumer<List<BlockDraft>> granted,
      Consumer<? super Throwable> failed) {
    List<BlockKey> wanted = List.copyOf(keys);
    return slots.acquire(wanted.size(), () -> lend(wanted, granted, failed), failed);
  }

  @Override
  public @Nullable HeldSlots tryHold(int count) {
    return slots.tryAcquire(count) ? new HeldSlots(this, count) : null;
  }

  @Override
  public Permits.Ticket hold(int count, Consumer<HeldSlots> granted, Consumer<? super Throwable> failed) {
    return slots.acquire(count, () -> granted.accept(new HeldSlots(this, count)), failed);
  }

  @Override
  public long claimedSlots() {
    return slots.inUse();
  }

  @Override
  public long highWaterSlots() {
    return slots.peak();
  }

  @Override
  public long capacitySlots() {
    return slots.capacity();
  }

  /// Charges the slot of `block` to this part, which has a free one, instead of the part that paid so far; false if
  /// none is free now, or others wait.
  ///
  /// @throws IllegalStateException if `block` was closed
  public boolean tryAdopt(Block block) {
    if (!slots.tryAcquire(1)) {
      return false;
    }
    new Room(this).adopt(block);
    return true;
  }

  /// Charges the slot of `block` to this part as soon as one is free and those who came before were served.
  ///
  /// @param granted runs once, on the caller's thread or on the one that freed the slot, unless the ticket was
  ///     cancelled: owns a free slot of this part, to be used by [Room#adopt] or given back
  /// @param failed hears why there will be none
  public Permits.Ticket adopt(Consumer<Room> granted, Consumer<? super Throwable> failed) {
    return slots.acquire(1, () -> granted.accept(new Room(this)), failed);
  }

  /// One free slot, held for a block that is charged to another part so far. Closing gives it back.
  public static final class Room extends Owned {
    private final SlabPart part;

    Room(SlabPart part) {
      this.part = part;
    }

    /// Charges the slot of `block` to the part of this room, which is used up by it.
    ///
    /// @throws IllegalStateException if `block` or this room was closed
    public void adopt(Block block) {
      if (!markClosed()) {
        throw new IllegalStateException("room must be open (was closed)");
      }
      try {
        block.charge(part);
      } catch (RuntimeException e) {
        part.slots.release(1);
        throw e;
      }
    }

    @Override
    protected void free() {
      part.slots.release(1);
    }
  }

  /// Refuses those who wait and whatever comes later.
  void close() {
    slots.close(() -> new ArenaClosedException(slots.name()));
  }

  String name() {
    return slots.name();
  }

  Permits permits() {
    return slots;
  }

  /// A draft in a slot that was acquired before.
  BlockDraft lend(BlockKey key) {
    return lend(List.of(key)).getFirst();
  }

  /// Gives back slots that were acquired and not lent, or whose memory came back.
  void giveUp(int count) {
    slots.release(count);
    arena.freeMemoryIfIdle();
  }

  private void lend(List<BlockKey> keys, Consumer<List<BlockDraft>> granted, Consumer<? super Throwable> failed) {
    List<BlockDraft> drafts;
    try {
      drafts = lend(keys);
    } catch (Throwable e) {
      failed.accept(e);
      return;
    }
    granted.accept(drafts);
  }

  /// Turns permits for as many slots as keys into drafts, or gives the permits back and throws.
  private List<BlockDraft> lend(List<BlockKey> keys) {
    try {
      List<Slot> free = arena.takeFree(keys.size());
      List<BlockDraft> drafts = new ArrayList<>(keys.size());
      for (int i = 0; i < keys.size(); i++) {
        Slot slot = free.get(i);
        slot.lend(this);
        drafts.add(new BlockDraft(keys.get(i), layout(), slot));
      }
      return drafts;
    } catch (Throwable e) {
      slots.release(keys.size());
      throw e;
    }
  }
}
