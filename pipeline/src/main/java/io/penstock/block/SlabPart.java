package io.penstock.block;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// The right to some slots of a [SlabArena], with a queue of its own. No other use takes these slots.
///
/// A lent slot is charged to a part until its last handle closes. [#tryAdopt] and [#adopt] charge it to another part
/// without moving a byte. Safe from any thread.
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

  /// Charges the slot of `block` to this part instead of the part that paid so far. False if no slot of this part is
  /// free now, or other claims wait.
  ///
  /// @throws IllegalStateException if `block` was closed
  public boolean tryAdopt(Block block) {
    if (!slots.tryAcquire(1)) {
      return false;
    }
    new Room(this).adopt(block);
    return true;
  }

  /// Takes a free slot of this part, as soon as the earlier claims were served, to charge a block to it with
  /// [Room#adopt].
  ///
  /// @param granted owns the room. Runs once, unless the ticket was cancelled: on the caller's thread or on the thread
  ///     that freed the slot
  /// @param failed gets the reason why there will be no room
  public Permits.Ticket adopt(Consumer<Room> granted, Consumer<? super Throwable> failed) {
    return slots.acquire(1, () -> granted.accept(new Room(this)), failed);
  }

  /// One free slot, held for a block that another part pays for so far. Closing gives the slot back.
  public static final class Room extends Owned {
    private final SlabPart part;

    Room(SlabPart part) {
      this.part = part;
    }

    /// Charges the slot of `block` to the part of this room, and uses the room up.
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

  /// Refuses waiting and later claims.
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

  /// Gives back the right to slots: acquired and not lent, or free again.
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

  /// Lends a draft for each key, whose slots were acquired before. If that fails, gives the slots back and throws.
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
