package io.penstock.node.door;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.node.config.DoorSettings;
import io.penstock.node.setting.Setting;
import java.io.IOException;
import java.util.Map;
import java.util.Random;

/// Clients that never stop to store, and a read beside them on the same network thread: what it waits for is bounded in
/// bytes of theirs.
///
/// @param settings of the door, with its names
/// @param more settings
/// @param words how the door is spoken to
public record ChokedReads(DoorKind kind, DoorSettings settings, Map<Setting<?>, String> more, Words words) {
  /// Length of a short value, and of the one that is read.
  public static final int LENGTH = 64 << 10;
  /// Length of a long value.
  public static final int LONG = 8_000_000;
  /// Length of a part of a long value.
  public static final int PART = 262_656;
  private static final int SHORT_PART = 66_048;
  private static final long SHORT_MEMORY = 8L << 20;

  /// Requests of a protocol.
  public interface Words {
    /// Stores `value` under `key`.
    byte[] put(String key, byte[] value);

    /// Ends the reply to it.
    byte[] stored();

    /// Reads the value of `key`.
    byte[] get(String key);

    /// Ends the reply that brings `value`.
    byte[] got(byte[] value);
  }

  private static byte[] value(int seed, int length) {
    byte[] value = new byte[length];
    new Random(seed).nextBytes(value);
    return value;
  }

  /// Reads a value now and then, while `writers` store values of `length` bytes.
  ///
  /// @param memory bytes for long parts
  /// @param turns of the door between two reads, of `reads`
  /// @param most bytes of one writer that may be read in a turn
  /// @param before bytes of all writers that may be read before the reply
  public void read(int writers, int length, long memory, int turns, int reads, int most, long before)
      throws IOException {
    byte[] value = value(-1, LENGTH);
    try (BusyDoor door = new BusyDoor(traffic -> new DrivenDoor(kind, settings, more,
        Map.of(PART, memory, SHORT_PART, SHORT_MEMORY), traffic))) {
      door.ask(words.put("read", value), words.stored());
      for (int i = 0; i < writers; i++) {
        door.add(words.put("written" + i, value(i, length)));
      }
      long longest = 0;
      for (int i = 0; i < reads; i++) {
        for (int j = 0; j < turns; j++) {
          door.turn();
        }
        longest = Math.max(longest, door.ask(words.get("read"), words.got(value)));
      }
      System.out.printf("%d writers of %d bytes: a read waited for %d bytes at most; %d of one writer in a turn%n",
          writers, length, longest, door.mostInTurn());
      assertThat(door.mostInTurn()).as("bytes of one writer in a turn").isBetween(1L, (long) most);
      assertThat(longest).as("bytes of the writers before a reply").isLessThanOrEqualTo(before);
    }
  }
}
