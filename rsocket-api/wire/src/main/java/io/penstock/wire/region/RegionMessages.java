package io.penstock.wire.region;

import static io.penstock.wire.protocol.Fields.present;

import io.penstock.wire.protocol.Fields;
import io.penstock.wire.protocol.Messages;
import io.penstock.wire.protocol.OmitsNulls;
import io.penstock.wire.protocol.PutMessages;
import io.penstock.wire.protocol.SessionMessages;
import io.penstock.wire.protocol.WireFormatException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The messages of the routes `region`, `store` and `load`. The rules of [Messages] hold for them, and `PROTOCOL.md`
/// owns their meaning.
public final class RegionMessages {
  private RegionMessages() {}

  /// Has the node map a file.
  ///
  /// @param space of the blocks that are to lie in its slots
  /// @param path of the file
  /// @param bytes to be mapped, from its beginning
  /// @param stride bytes from a slot to the next one
  /// @param device and inode of the file, as the client knows it; null for any file at `path`
  @OmitsNulls
  public record RegionRequest(byte[] space, String path, long bytes, long stride, @Nullable Long device,
      @Nullable Long inode) {
    public RegionRequest {
      Fields.spaceId("space", space);
      present("path", path);
      if (stride < 1) {
        throw WireFormatException.request("stride", ">= 1", stride);
      }
      if (bytes < stride) {
        throw WireFormatException.request("bytes", ">= stride " + stride, bytes);
      }
    }
  }

  /// @param region number of the mapping on this connection
  /// @param slots that it has
  public record RegionReply(long region, long slots) {}

  /// Keys, and the slot of each.
  ///
  /// @param slots numbers of the slots, 32 bits each, little-endian
  /// @param ticket as of a `get`
  /// @param millis how long the node may wait for room, or for blocks; null for as long as it does for others
  /// @param session of the request; null for none
  @OmitsNulls
  public record SlotsRequest(long region, Messages.Keys keys, byte[] slots, long ticket, @Nullable Long millis,
      SessionMessages.@Nullable Named session) {
    public SlotsRequest {
      present("keys", keys);
      present("slots", slots);
      if (ticket < 0) {
        throw WireFormatException.request("ticket", ">= 0", ticket);
      }
      if (millis != null && millis < 1) {
        throw WireFormatException.request("millis", ">= 1", millis);
      }
    }

    /// The slot of each of `keys` keys.
    ///
    /// @param most slots of the region
    /// @throws WireFormatException if there are not as many slots as keys, or one lies outside the region
    public int[] numbers(int count, long most) {
      if (slots.length != (long) count * Integer.BYTES) {
        throw WireFormatException.request("slots", (long) count * Integer.BYTES + " bytes, 4 for each key",
            slots.length);
      }
      int[] numbers = new int[count];
      ByteBuffer.wrap(slots).order(ByteOrder.LITTLE_ENDIAN).asIntBuffer().get(numbers);
      for (int number : numbers) {
        if (number < 0 || number >= most) {
          throw WireFormatException.request("slots", "in [0, " + most + ")", number);
        }
      }
      return numbers;
    }
  }

  /// What became of each key.
  ///
  /// @param bits of the keys for which it was done
  /// @param failed why not the others
  public record SlotsReply(int size, byte[] bits, List<PutMessages.Failed> failed) {
    public SlotsReply {
      new Messages.Bits(size, bits); // checks them
      failed = Fields.copied("failed", failed);
    }

    static SlotsReply of(int size, BitSet done, Map<Integer, Integer> codes) {
      return new SlotsReply(size, done.toByteArray(),
          codes.entrySet().stream().map(each -> new PutMessages.Failed(each.getKey(), each.getValue())).toList());
    }
  }
}
