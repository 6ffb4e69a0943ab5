package io.penstock.block;

import static java.util.Objects.requireNonNull;

import io.penstock.block.SlabArena.ArenaClosedException;
import io.penstock.budget.Permits;
import io.penstock.check.Checks;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// The right to some slots of a [SlabArena], with a queue of its own. No other use takes these slots.
///
/// A lent slot is charged to a part until its last handle closes. [#tryAdopt] and [#adopt] charge it to another part
/// without moving a byte. Safe from any thread.
public final class SlabPart implements BlockArena {
  private final SlabArena arena;
  private final Permits slots;
  /// Slots that the arena gave this part when it was made.
  private final int given;

  SlabPart(SlabArena arena, String name, int capacitySlots, int maxWaiters) {
    this.arena = arena;
    this.given = capacitySlots;
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

  /// One free slot, held for a block that another part pays for at present. Closing gives the slot back.
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
      } catch (RuntimeException | Error e) {
        part.giveUp(1);
        throw e;
      }
    }

    @Override
    protected void free() {
      part.giveUp(1);
    }
  }

  /// Bytes from the start of a slot to the start of the next.
  public int strideBytes() {
    return arena.strideBytes();
  }

  /// Adds slots in `memory`, which is on loan: as many as it has room for, at least one.
  ///
  /// @param memory begins at a multiple of 64 bytes, and is valid until `returned` runs
  /// @param returned runs when the run was retired, or the arena closed, and the last slot is free
  /// @throws ArenaClosedException if the arena was closed
  public Run borrow(MemorySegment memory, Runnable returned) {
    Run run = new Run(this, memory, returned);
    arena.add(run);
    slots.raise(run.slots());
    return run;
  }

  /// Slots in memory on loan, one after the other. After [#retire()] none of them is lent any more.
  public static final class Run {
    private final SlabPart part;
    private final MemorySegment memory;
    private final int slots;
    private final Runnable returned;
    /// Guarded by the arena, like the next two.
    private List<Slot> made = List.of();
    private int lent;
    private boolean retired;

    private Run(SlabPart part, MemorySegment memory, Runnable returned) {
      this.part = part;
      this.memory = memory;
      this.slots = Checks.positive("slots", (int) (memory.byteSize() / part.strideBytes()));
      this.returned = requireNonNull(returned, "returned");
    }

    /// Number of slots.
    public int slots() {
      return slots;
    }

    /// Slots that are lent now.
    public int lentSlots() {
      synchronized (part.arena) {
        return lent;
      }
    }

    /// Whether `block` is in this run.
    public boolean has(Block block) {
      return block.isIn(this);
    }

    /// The keys that slots of this run were lent for; empty if none is lent.
    public List<BlockKey> keys() {
      synchronized (part.arena) {
        return lent == 0 ? List.of() : made.stream().map(Slot::key).filter(Objects::nonNull).toList();
      }
    }

    /// Lends no slot of this run from now on, and takes the right to its slots from the part. Call it once.
    public void retire() {
      part.arena.retire(this);
      part.slots.lower(slots);
      part.arena.endRuns();
    }

    // Called by the arena, which guards the state

    List<Slot> makeSlots() {
      made = part.arena.makeSlots(this, memory, slots);
      return made;
    }

    void lent() {
      lent++;
    }

    /// Counts a slot that came back; true if it must not be lent again.
    boolean takeBack() {
      lent--;
      return retired;
    }

    void markRetired() {
      retired = true;
    }

    boolean isRetired() {
      return retired;
    }

    /// Whether no slot of it is lent, nor will be.
    boolean isOver() {
      return retired && lent == 0 && part.slots.inUse() <= part.slots.capacity();
    }

    /// Gives the memory back. Outside the lock of the arena.
    void end() {
      returned.run();
    }
  }

  /// Refuses waiting and later claims.
  void close() {
    slots.close(() -> new ArenaClosedException(slots.name()));
  }

  /// Its name in errors.
  public String name() {
    return slots.name();
  }

  /// Slots in use beyond those that this part was given at first; negative while fewer are in use.
  long claimedBeyondGiven() {
    return slots.inUse() - given;
  }

  Permits permits() {
    return slots;
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
  List<BlockDraft> lend(List<BlockKey> keys) {
    try {
      List<Slot> free = arena.takeFree(keys.size());
      List<BlockDraft> drafts = new ArrayList<>(keys.size());
      for (int i = 0; i < keys.size(); i++) {
        Slot slot = free.get(i);
        slot.lend(keys.get(i), this);
        drafts.add(new BlockDraft(keys.get(i), layout(), slot));
      }
      return drafts;
    } catch (Throwable e) {
      slots.release(keys.size());
      throw e;
    }
  }
}
