package io.penstock.wire.server;

import io.penstock.block.BlockLayout;
import io.penstock.block.Plane;
import io.penstock.wire.protocol.Limits;
import io.penstock.wire.slice.SliceHeader;
import io.penstock.wire.transport.ConnectionLimits;
import io.penstock.wire.transport.ReceiveLimits;
import io.penstock.wire.transport.tcp.TcpServerOptions;
import java.util.Comparator;
import java.util.List;

/// Maximum lengths of the frames of a connection, by the limits of a node.
///
/// @param slice longest with a slice
/// @param longest longest of all
public record FrameLengths(int slice, int longest) {
  /// Headers and metadata of RSocket, and the short fields of a message.
  private static final int REST_BYTES = 4 << 10;
  /// Bytes of one receipt of a `stored` message, in JSON.
  private static final int RECEIPT_BYTES = 160;

  /// Lengths for a node with `limits`, whose blocks have `layout`.
  public static FrameLengths of(Limits limits, BlockLayout layout) {
    long slice = REST_BYTES + (long) limits.maxSliceBytes() + headerBytes(limits, layout);
    long request = REST_BYTES + (long) limits.longestRequest();
    long receipts = REST_BYTES + (long) limits.windowBlocks() * RECEIPT_BYTES;
    return new FrameLengths(frame(slice), frame(Math.max(slice, Math.max(request, receipts))));
  }

  /// Lengths for a node with blocks of several layouts.
  public static FrameLengths of(Limits limits, List<BlockLayout> layouts) {
    return layouts.stream().map(layout -> of(limits, layout)).max(Comparator.comparingInt(FrameLengths::slice))
        .orElseThrow();
  }

  /// `options` with these bounds, and `receive` with them.
  ///
  /// @throws IllegalArgumentException if two of the longest do not fit the room of `receive`
  public TcpServerOptions bound(TcpServerOptions options, ReceiveLimits receive) {
    return new TcpServerOptions(options.local(), options.backlog(), options.slots(), receive.withAskedBytes(slice),
        options.limits().withMaxFrameBytes(longest), options.tuning(), options.tls());
  }

  /// A granule has one checksum, and so have rows that are cut from one, and the part that a view has of one: at least
  /// one head of one token.
  private static long headerBytes(Limits limits, BlockLayout layout) {
    int planes = layout.planes().size();
    long smallest = Long.MAX_VALUE;
    for (Plane plane : layout.planes()) {
      smallest = Math.min(smallest, (long) plane.width() * plane.type().bytes());
    }
    long checksums =
        Math.min((long) limits.windowBlocks() * layout.layers() * planes, limits.maxSliceBytes() / smallest);
    return Math.min(SliceHeader.LARGEST_HEADER_BYTES,
        SliceHeader.TABLES_OFFSET + SliceHeader.VIEW_BYTES + Integer.BYTES * (limits.windowBlocks() + checksums));
  }

  private static int frame(long bytes) {
    return (int) Math.min(ConnectionLimits.LONGEST_FRAME, bytes);
  }
}
