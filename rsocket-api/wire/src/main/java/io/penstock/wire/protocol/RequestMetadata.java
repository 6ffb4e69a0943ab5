package io.penstock.wire.protocol;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.penstock.wire.trace.TraceContext;
import io.rsocket.metadata.CompositeMetadata;
import io.rsocket.metadata.CompositeMetadataCodec;
import io.rsocket.metadata.RoutingMetadata;
import io.rsocket.metadata.TaggingMetadataCodec;
import io.rsocket.metadata.WellKnownMimeType;
import java.nio.charset.StandardCharsets;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// The composite metadata of a request: its route and, if it differs from the connection's, the MIME type of its data.
public record RequestMetadata(String route, String dataMimeType, @Nullable TraceContext trace) {
  public static final String COMPOSITE = WellKnownMimeType.MESSAGE_RSOCKET_COMPOSITE_METADATA.getString();
  private static final String ROUTING = WellKnownMimeType.MESSAGE_RSOCKET_ROUTING.getString();
  /// A `traceparent` of W3C Trace Context, in ASCII.
  static final String TRACE = "application/x-traceparent";
  private static final String MIME_TYPE = WellKnownMimeType.MESSAGE_RSOCKET_MIMETYPE.getString();

  /// Metadata with a route and nothing else, by route.
  private static final Map<String, byte[]> WRITTEN =
      Routes.ALL.stream().collect(Collectors.toUnmodifiableMap(route -> route, RequestMetadata::written));
  /// Entries by the length of the word, for reading.
  private static final Map<Integer, List<Known>> KNOWN = WRITTEN.entrySet().stream()
      .map(route -> new Known(Unpooled.wrappedBuffer(route.getValue()), route.getKey()))
      .collect(Collectors.groupingBy(known -> known.metadata().readableBytes()));

  private record Known(ByteBuf metadata, String route) {}

  /// @throws WireFormatException if there is no route, or the metadata cannot be read
  public static RequestMetadata read(ByteBuf metadata, String connectionMimeType) {
    for (Known known : KNOWN.getOrDefault(metadata.readableBytes(), List.of())) {
      if (ByteBufUtil.equals(metadata, known.metadata())) {
        return new RequestMetadata(known.route(), connectionMimeType, null);
      }
    }
    return parsed(metadata, connectionMimeType);
  }

  /// Whether `metadata` can be read, and names `route`.
  public static boolean isFor(String route, ByteBuf metadata) {
    try {
      return read(metadata, "").route().equals(route);
    } catch (WireFormatException e) {
      return false;
    }
  }

  private static RequestMetadata parsed(ByteBuf metadata, String connectionMimeType) {
    String route = null;
    TraceContext trace = null;
    String dataMimeType = connectionMimeType;
    try {
      for (CompositeMetadata.Entry entry : new CompositeMetadata(metadata, false)) {
        if (ROUTING.equals(entry.getMimeType())) {
          Iterator<String> tags = new RoutingMetadata(entry.getContent()).iterator();
          route = tags.hasNext() ? tags.next() : null;
        } else if (MIME_TYPE.equals(entry.getMimeType())) {
          dataMimeType = mimeType(entry.getContent());
        } else if (TRACE.equals(entry.getMimeType())) { // one that cannot be read is none
          trace = TraceContext.parse(entry.getContent().toString(StandardCharsets.US_ASCII)).orElse(null);
        }
      }
    } catch (IllegalArgumentException | IllegalStateException | IndexOutOfBoundsException e) {
      throw WireFormatException.request("metadata", "readable composite metadata", "bytes that are not");
    }
    if (route == null) {
      throw WireFormatException.request("metadata", "composite with a route", "none");
    }
    return new RequestMetadata(route, dataMimeType, trace);
  }

  public static ByteBuf write(String route, ByteBufAllocator allocator) {
    byte[] known = WRITTEN.get(route);
    byte[] written = known == null ? written(route) : known;
    return allocator.buffer(written.length).writeBytes(written);
  }

  /// Writes the metadata with a trace.
  public static ByteBuf write(String route, @Nullable TraceContext trace, ByteBufAllocator allocator) {
    ByteBuf plain = write(route, allocator);
    if (trace == null) {
      return plain;
    }
    CompositeByteBuf metadata = allocator.compositeBuffer().addComponent(true, plain);
    CompositeMetadataCodec.encodeAndAddMetadata(metadata, allocator, TRACE,
        ByteBufUtil.writeAscii(allocator, trace.traceparent()));
    return metadata;
  }

  private static byte[] written(String route) {
    ByteBuf metadata = composite(route, UnpooledByteBufAllocator.DEFAULT);
    try {
      return ByteBufUtil.getBytes(metadata);
    } finally {
      metadata.release();
    }
  }

  private static ByteBuf composite(String route, ByteBufAllocator allocator) {
    CompositeByteBuf metadata = allocator.compositeBuffer();
    ByteBuf tags = TaggingMetadataCodec.createRoutingMetadata(allocator, List.of(route)).getContent();
    CompositeMetadataCodec.encodeAndAddMetadata(metadata, allocator, WellKnownMimeType.MESSAGE_RSOCKET_ROUTING, tags);
    return metadata;
  }

  /// A well-known id with its high bit set, or a length byte and ASCII.
  private static String mimeType(ByteBuf content) {
    int first = content.readUnsignedByte();
    if ((first & 0x80) != 0) {
      return WellKnownMimeType.fromIdentifier(first & 0x7F).getString();
    }
    return content.readCharSequence(first + 1, StandardCharsets.US_ASCII).toString();
  }
}
