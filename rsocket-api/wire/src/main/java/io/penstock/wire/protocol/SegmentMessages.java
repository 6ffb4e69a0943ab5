package io.penstock.wire.protocol;

import static io.penstock.wire.protocol.Fields.copied;
import static io.penstock.wire.protocol.Fields.present;

import io.penstock.wire.protocol.WireFailure.RemoteTransientException;
import io.penstock.wire.transfer.Notification;
import io.penstock.wire.transfer.Segment;
import io.penstock.wire.transfer.SegmentLink;
import io.penstock.wire.transfer.SegmentRegistry;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/// The control messages of segments; see [Messages] for what holds for all.
public final class SegmentMessages {
  private SegmentMessages() {}

  /// @param engine number of the engine that asks: the node ends the writes of its earlier connections; null for none
  /// @param connection grows from connection to connection of the engine; null of one that does not count them
  /// @param carriers besides frames; null for none
  @OmitsNulls
  public record SegmentsRequest(@Nullable Long engine, @Nullable Long connection,
      @Nullable List<Handshake.CarrierOffer> carriers) {
    public SegmentsRequest {
      carriers = carriers == null ? null : copied("carriers", carriers);
    }

    public SegmentsRequest(@Nullable Long engine, @Nullable Long connection) {
      this(engine, connection, null);
    }

    public long order() {
      return connection == null ? 0 : connection;
    }
  }

  /// @param version of the publication
  /// @param maxSliceBytes maximum bytes of a slice
  /// @param parts maximum number of parts of an item; null of a node that knows no parts
  /// @param crc CRC32C of generation, version, and number, bytes and name of each segment: no item may go to another
  ///     segment than its caller named
  /// @param carriers the answer to those of the request; null if it offered none
  @OmitsNulls
  public record SegmentsReply(long generation, long version, int maxSliceBytes, List<Described> segments, long crc,
      @Nullable Integer parts, @Nullable List<Handshake.CarrierOffer> carriers) {
    public SegmentsReply {
      carriers = carriers == null ? null : copied("carriers", carriers);
      segments = copied("segments", segments);
      if (maxSliceBytes < 1) {
        throw WireFormatException.request("maxSliceBytes", ">= 1", maxSliceBytes);
      }
    }

    public static SegmentsReply of(SegmentRegistry.Snapshot known, int maxSliceBytes,
        @Nullable List<Handshake.CarrierOffer> carriers) {
      List<Described> segments = known.segments().stream()
          .map(segment -> new Described(segment.number(), segment.name(), segment.bytes())).toList();
      return new SegmentsReply(known.generation(), known.version(), maxSliceBytes, segments,
          crc(known.generation(), known.version(), segments), SegmentParts.MOST, carriers);
    }

    public int mostParts() {
      return parts == null ? 1 : parts;
    }

    private static long crc(long generation, long version, List<Described> segments) {
      FieldCrc crc = new FieldCrc().with(generation).with(version);
      segments.forEach(one -> crc.with(one.number()).with(one.bytes()).with(one.name()));
      return crc.value();
    }

    public void requireIntact() {
      FieldCrc.require(crc, crc(generation, version, segments));
    }

    public SegmentRegistry.Snapshot snapshot() {
      return new SegmentRegistry.Snapshot(generation, version,
          segments.stream().map(one -> new Segment(generation, one.number(), one.name(), one.bytes())).toList());
    }
  }

  /// One segment.
  record Described(long number, String name, long bytes) {
    Described {
      present("name", name);
      if (number < 1 || bytes < 1 || name.isEmpty() || name.length() > Segment.LONGEST_NAME) {
        throw WireFormatException.request("segment", "a name, and a number and bytes > 0",
            number + ", " + bytes + " bytes");
      }
    }
  }

  /// A read, or the open message of a write.
  ///
  /// @param segment its number; of several parts their digest
  /// @param offset in the segment; of several parts 0
  /// @param length of all parts together
  /// @param item chosen by the client; stands in the header of each slice
  /// @param parts as [SegmentParts] packs them; null for one part, which the other fields name
  /// @param proof bytes that the client read in the node's probe, for a read whose slices may refer to memory; null for
  ///     none
  @OmitsNulls
  public record ItemRequest(long generation, long segment, long offset, long length, int maxSliceBytes, long item,
      byte @Nullable [] parts, byte @Nullable [] proof) {
    /// A request of one part.
    public ItemRequest(long generation, long segment, long offset, long length, int maxSliceBytes, long item) {
      this(generation, segment, offset, length, maxSliceBytes, item, null, null);
    }

    public static ItemRequest of(List<SegmentLink.Range> ranges, int maxSliceBytes, long item,
        byte @Nullable [] proof) {
      SegmentLink.Range first = ranges.getFirst();
      long length = ranges.stream().mapToLong(SegmentLink.Range::length).sum();
      int slice = (int) Math.min(maxSliceBytes, length);
      if (ranges.size() == 1) {
        return new ItemRequest(first.generation(), first.number(), first.offset(), length, slice, item, null, proof);
      }
      byte[] parts = SegmentParts.pack(ranges);
      return new ItemRequest(first.generation(), SegmentParts.digest(parts), 0, length, slice, item, parts, proof);
    }

    /// Ranges that are read or written, in order.
    public List<SegmentLink.Range> ranges() {
      return parts == null
          ? List.of(new SegmentLink.Range(generation, segment, offset, length))
          : SegmentParts.unpack(parts, generation);
    }

    /// @param most bytes a slice that the node allows
    public void requireIn(int most) {
      if (length < 1) {
        throw WireFormatException.request("length", ">= 1", length);
      } else if (offset < 0 || offset > Long.MAX_VALUE - length) {
        throw WireFormatException.request("offset", ">= 0, and offset + length <= 2^63 - 1", offset);
      }
      if (parts != null) {
        SegmentParts.require(parts, segment, length);
      }
      long least = Math.min(length, LEAST_SLICE);
      if (maxSliceBytes < least || maxSliceBytes > most) {
        throw new WireFormatException(ErrorCode.LIMIT_EXCEEDED, "maxSliceBytes", "in [" + least + ", " + most + "]",
            maxSliceBytes);
      }
    }
  }

  /// Shorter slices cost more in headers than they move.
  private static final int LEAST_SLICE = 4096;

  /// All bytes were verified and are in the segment.
  public record WriteReply(long written) {
    public void require(long length) {
      if (written != length) {
        throw WireFormatException.request("written", "" + length, written);
      }
    }
  }

  /// @param crc CRC32C of the other fields
  public record NotifyRequest(long engine, long sequence, long generation, String sender, String message, long crc) {
    public NotifyRequest(long engine, long sequence, long generation, String sender, String message) {
      this(engine, sequence, generation, sender, message, crc(engine, sequence, generation, sender, message));
    }

    private static long crc(long engine, long sequence, long generation, String sender, String message) {
      return new FieldCrc().with(engine).with(sequence).with(generation).with(sender).with(message).value();
    }

    public void requireIntact() {
      present("sender", sender);
      present("message", message);
      FieldCrc.require(crc, crc(engine, sequence, generation, sender, message));
    }

    public static NotifyRequest of(SegmentLink.Letter letter) {
      return new NotifyRequest(letter.engine(), letter.sequence(), letter.generation(), letter.notification().sender(),
          letter.notification().message());
    }

    public Notification notification() {
      try {
        return new Notification(present("sender", sender), present("message", message));
      } catch (IllegalArgumentException e) {
        throw WireFormatException.request("notification", "of bounded length", String.valueOf(e.getMessage()));
      }
    }
  }

  /// Checks fields that would do harm if they changed on their way unseen.
  private static final class FieldCrc {
    private final CRC32C crc = new CRC32C();

    FieldCrc with(long field) {
      crc.update(ByteBuffer.allocate(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN).putLong(field).flip());
      return this;
    }

    FieldCrc with(String field) {
      crc.update(field.getBytes(StandardCharsets.UTF_8));
      return this;
    }

    long value() {
      return crc.getValue();
    }

    static void require(long told, long actual) {
      if (told != actual) {
        throw new RemoteTransientException(ErrorCode.BLOCK_CORRUPT.code(),
            "CRC32C of the fields must be %08x (was %08x)".formatted(told, actual));
      }
    }
  }

  public record NotifyReply(@Nullable Boolean accepted) {}
}
