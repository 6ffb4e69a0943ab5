package io.penstock.lab.simulate;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.penstock.wire.transport.ConnectionGauges;
import io.rsocket.DuplexConnection;
import io.rsocket.RSocketErrorException;
import io.rsocket.frame.FrameHeaderCodec;
import io.rsocket.frame.FrameType;
import io.rsocket.frame.PayloadFrameCodec;
import java.net.SocketAddress;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// One direction of one connection, seen from outside RSocket: slices that were sent and have not arrived yet, of
/// streams whose receiver still wants them. Counted from frames alone, so that it does not depend on the budgets it is
/// compared with.
final class Traffic {
  private static final int SLICE_MAGIC = 0x31534B50;
  private static final int PAYLOAD_BYTES_OFFSET = 64;

  private record Sent(int stream, long bytes) {}

  private final ArrayDeque<Sent> underWay = new ArrayDeque<>();
  private final Map<Integer, Long> bytesByStream = new HashMap<>();
  private final Set<Integer> unwanted = new HashSet<>();
  private @Nullable ConnectionGauges sender;
  private long bytes;
  private long peakBytes;
  private boolean over;

  /// Payload bytes of wanted slices that are under way.
  long bytes() {
    return bytes;
  }

  long peakBytes() {
    return peakBytes;
  }

  /// Highest number of bytes that waited for the link.
  long peakQueuedBytes() {
    return sender == null ? 0 : sender.peakQueuedBytes();
  }

  private void sent(int stream, ByteBuf frame) {
    if (stream == 0 || over) {
      return;
    }
    long slice = unwanted.contains(stream) ? 0 : sliceBytes(frame);
    underWay.add(new Sent(stream, slice));
    if (slice > 0) {
      bytes += slice;
      peakBytes = Math.max(peakBytes, bytes);
      bytesByStream.merge(stream, slice, Long::sum);
    }
  }

  private void arrived(ByteBuf frame) {
    if (FrameHeaderCodec.streamId(frame) == 0) {
      return;
    }
    Sent first = underWay.poll();
    if (first != null && first.bytes() > 0 && !unwanted.contains(first.stream())) {
      bytes -= first.bytes();
      bytesByStream.merge(first.stream(), -first.bytes(), Long::sum);
    }
  }

  /// The receiver of `stream` wants no more of it.
  private void unwanted(int stream) {
    if (unwanted.add(stream)) {
      Long left = bytesByStream.remove(stream);
      bytes -= left == null ? 0 : left;
    }
  }

  private void over() {
    over = true;
    bytes = 0;
    underWay.clear();
    bytesByStream.clear();
  }

  private static long sliceBytes(ByteBuf frame) {
    FrameType type = FrameHeaderCodec.frameType(frame);
    if (type != FrameType.NEXT && type != FrameType.NEXT_COMPLETE && type != FrameType.PAYLOAD) {
      return 0;
    }
    ByteBuf data = PayloadFrameCodec.data(frame);
    int start = data.readerIndex();
    return data.readableBytes() > PAYLOAD_BYTES_OFFSET + 4 && data.getIntLE(start) == SLICE_MAGIC
        ? data.getIntLE(start + PAYLOAD_BYTES_OFFSET)
        : 0;
  }

  /// An end of a connection that reports its frames to both directions.
  ///
  /// @param out frames that this end sends
  /// @param in frames that it receives
  record Tap(DuplexConnection connection, Traffic out, Traffic in) implements DuplexConnection {
    Tap {
      if (connection instanceof ConnectionGauges gauges) {
        out.sender = gauges;
      }
      connection.onClose().subscribe(nothing -> {}, error -> in.over(), in::over);
    }

    @Override
    public void sendFrame(int streamId, ByteBuf frame) {
      out.sent(streamId, frame);
      FrameType type = FrameHeaderCodec.frameType(frame);
      if (type == FrameType.CANCEL || type == FrameType.ERROR) {
        in.unwanted(streamId);
      }
      connection.sendFrame(streamId, frame);
    }

    @Override
    public void sendErrorAndClose(RSocketErrorException error) {
      connection.sendErrorAndClose(error);
    }

    @Override
    public Flux<ByteBuf> receive() {
      return connection.receive().doOnNext(in::arrived);
    }

    @Override
    public ByteBufAllocator alloc() {
      return connection.alloc();
    }

    @Override
    public SocketAddress remoteAddress() {
      return connection.remoteAddress();
    }

    @Override
    public Mono<Void> onClose() {
      return connection.onClose();
    }

    @Override
    public void dispose() {
      in.over();
      connection.dispose();
    }

    @Override
    public boolean isDisposed() {
      return connection.isDisposed();
    }

    @Override
    public double availability() {
      return connection.availability();
    }
  }
}
