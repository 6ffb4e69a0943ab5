package io.penstock.wire.transport.frame;

import io.netty.buffer.ByteBuf;
import io.rsocket.frame.FrameHeaderCodec;
import io.rsocket.frame.FrameType;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/// The streams of one connection that have memory for what comes: the last bytes of their long frames are read straight
/// into it, and the frame that is passed on ends before them.
///
/// RSocket does not say which number a stream has. The frame that opens it does, and it passes on the thread of the
/// side that wants to know: the one that sends it ([Stream#opening]), or that receives it ([#receives]).
public final class StreamBodies {
  /// Type, flags and number of a frame; its data follow, if it has no metadata.
  private static final int HEAD = FrameHeaderCodec.size();
  private static final int METADATA = 0x100;
  private static final int FOLLOWS = 0x80;
  private static final int NEXT = 0x20;
  /// A longer request is not read while it is passed on, but later, maybe while that of another stream is.
  private static final int MOST_REQUEST_BYTES = 1 << 14;

  private static final ThreadLocal<@Nullable Stream> SENT = new ThreadLocal<>();
  private static final ThreadLocal<@Nullable Received> RECEIVED = new ThreadLocal<>();

  private final Map<Integer, Stream> streams = new ConcurrentHashMap<>();
  private final BooleanSupplier passing;
  private final Runnable abandoned;
  /// The stream whose memory is being filled.
  private volatile @Nullable Stream filling;

  private record Received(StreamBodies bodies, int stream) {}

  /// @param passing whether a frame that is passed on now reaches its stream at once, with no other before it
  /// @param abandoned run when the stream whose memory is being filled has closed; from any thread
  public StreamBodies(BooleanSupplier passing, Runnable abandoned) {
    this.passing = passing;
    this.abandoned = abandoned;
  }

  /// Gives memory for the frames of one stream.
  public interface Taker {
    /// @param data the first bytes of the data of a frame; valid during the call
    /// @param bytes of the data in all
    /// @return memory for those behind the head of the data; null if they must come with the frame
    @Nullable FrameBody take(ByteBuf data, int bytes);
  }

  /// One side of a stream that wants its frames so.
  public static final class Stream {
    private final ToIntFunction<ByteBuf> headBytes;
    private final Taker taker;
    private volatile @Nullable Received at;
    private volatile boolean isClosed;

    /// @param headBytes number of bytes that `taker` must see, by those that are there; 0 if it takes none
    public Stream(ToIntFunction<ByteBuf> headBytes, Taker taker) {
      this.headBytes = headBytes;
      this.taker = taker;
    }

    /// Runs `request`, which sends the frame that opens the stream.
    public void opening(Runnable request) {
      SENT.set(this);
      try {
        request.run();
      } finally {
        SENT.remove();
      }
    }

    /// Enters the stream whose first frame this thread passes on, if there is one.
    public void opened() {
      Received received = RECEIVED.get();
      if (received != null) {
        enter(received);
      }
    }

    private void enter(Received received) {
      at = received;
      received.bodies.streams.put(received.stream, this);
    }

    /// Takes no more bytes: memory that it gave is given up. Idempotent.
    public void close() {
      Received entered = at;
      if (entered != null) {
        isClosed = true;
        entered.bodies.streams.remove(entered.stream, this);
        if (equals(entered.bodies.filling)) {
          entered.bodies.abandoned.run();
        }
      }
    }
  }

  /// A frame leaves for the peer.
  public void sends(int streamId, ByteBuf frame) {
    Stream opening = SENT.get();
    if (opening != null && isAsking(frame)) {
      SENT.remove();
      opening.enter(new Received(this, streamId));
    }
  }

  private static boolean isAsking(ByteBuf frame) {
    return FrameTypes.is(FrameType.REQUEST_STREAM, frame) || FrameTypes.is(FrameType.REQUEST_RESPONSE, frame);
  }

  /// Passes on a frame of the peer.
  public void receives(ByteBuf frame, Consumer<ByteBuf> to) {
    if (frame.readableBytes() < HEAD || frame.readableBytes() > MOST_REQUEST_BYTES
        || !FrameTypes.is(FrameType.REQUEST_CHANNEL, frame)) {
      to.accept(frame);
      return;
    }
    RECEIVED.set(new Received(this, frame.getInt(frame.readerIndex())));
    try {
      to.accept(frame);
    } finally {
      RECEIVED.remove();
    }
  }

  /// First bytes of `frame` that [#take] must see, by those that are there; 0 if no stream has memory for it.
  int headBytes(ByteBuf frame) {
    if (frame.readableBytes() < HEAD) {
      return streams.isEmpty() ? 0 : HEAD;
    }
    int flags = frame.getUnsignedShort(frame.readerIndex() + Integer.BYTES);
    Stream stream = streams.get(frame.getInt(frame.readerIndex()));
    if (stream == null || !FrameTypes.is(FrameType.PAYLOAD, frame)
        || (flags & (METADATA | FOLLOWS | NEXT)) != NEXT) {
      return 0;
    }
    int bytes = stream.headBytes.applyAsInt(data(frame));
    return bytes == 0 ? 0 : HEAD + bytes;
  }

  /// Memory for the bytes of `frame` behind its head.
  ///
  /// @param length of the frame
  @Nullable FrameBody take(ByteBuf frame, int length) {
    Stream stream = streams.get(frame.getInt(frame.readerIndex()));
    FrameBody body = stream == null || !passing.getAsBoolean() ? null : stream.taker.take(data(frame), length - HEAD);
    filling = body == null ? null : stream;
    return body;
  }

  /// Whether the stream whose memory is being filled has closed.
  boolean isAbandoned() {
    Stream stream = filling;
    return stream != null && stream.isClosed;
  }

  /// No memory is being filled any more.
  void filled() {
    filling = null;
  }

  private static ByteBuf data(ByteBuf frame) {
    return frame.slice(frame.readerIndex() + HEAD, frame.readableBytes() - HEAD);
  }
}
