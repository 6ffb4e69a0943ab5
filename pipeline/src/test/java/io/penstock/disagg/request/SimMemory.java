package io.penstock.disagg.request;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;

/// Slots of one simulated process. The slot that was freed last is taken first, so that a late write hits its next
/// owner.
final class SimMemory {
  static final int PARTS = 8;

  /// One block: what each source wrote, and whose it is.
  static final class Slot {
    String owner = "";
    final long[] parts = new long[PARTS];
  }

  private final Deque<Slot> free = new ArrayDeque<>();
  private int taken;

  List<Slot> take(String owner, int count) {
    List<Slot> slots = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      Slot slot = free.isEmpty() ? new Slot() : free.pop();
      slot.owner = owner;
      Arrays.fill(slot.parts, 0);
      slots.add(slot);
    }
    taken += count;
    return slots;
  }

  void free(List<Slot> slots) {
    for (Slot slot : slots) {
      if (slot.owner.isEmpty()) {
        throw new AssertionError("a slot must be freed once");
      }
      slot.owner = "";
      free.push(slot);
    }
    taken -= slots.size();
  }

  int taken() {
    return taken;
  }

  /// The bytes of one part of one block.
  static long value(String request, int block, int source) {
    return 0x9E37_79B9_7F4A_7C15L * (31L * (31L * request.hashCode() + block + 1) + source + 1);
  }
}
