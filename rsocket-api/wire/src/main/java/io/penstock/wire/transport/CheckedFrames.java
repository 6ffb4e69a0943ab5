package io.penstock.wire.transport;

import static java.util.Objects.requireNonNull;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.rsocket.DuplexConnection;
import io.rsocket.RSocketErrorException;
import io.rsocket.exceptions.ConnectionErrorException;
import io.rsocket.exceptions.RejectedSetupException;
import io.rsocket.frame.ErrorFrameCodec;
import io.rsocket.frame.FrameHeaderCodec;
import io.rsocket.frame.FrameType;
import io.rsocket.frame.SetupFrameCodec;
import io.rsocket.plugins.DuplexConnectionInterceptor;
import io.rsocket.plugins.InterceptorRegistry;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.SynchronousSink;
import reactor.core.scheduler.Scheduler;

/// A connection that ends with the first frame that RSocket would accept and a node must not, and with a peer that is
/// silent for too long.
///
/// A payload must come in one frame: RSocket would join fragments before our code is called, as many bytes a stream and
/// as many streams as the peer likes. The times of keep-alive in SETUP must be positive and bounded: RSocket reads 0 as
/// *never*, and a connection whose peer is gone would stay. A frame must have the lengths that its type asks for: a
/// stream could not tell RSocket's complaint from an error of its own code.
///
/// A [PeerWatch] keeps the lifetime in SETUP. RSocket would count as silence also time in which this process stood
/// still, and steps of the wall clock; it gets [#WATCHED] as lifetime.
public final class CheckedFrames implements DuplexConnection {
  /// A lifetime whose end RSocket never sees.
  public static final Duration WATCHED = Duration.ofMillis(Integer.MAX_VALUE);

  /// A node looks at each connection this often at most.
  private static final int LEAST_INTERVAL_MILLIS = 100;
  private static final int LIFETIME_OFFSET = FrameHeaderCodec.size() + 2 * Integer.BYTES;
  private static final int METADATA_LENGTH_BYTES = 3;

  /// Peer of the SETUP that this thread passes on: RSocket does not give an acceptor the address of its peer.
  private static final ThreadLocal<Peer> PEER = ThreadLocal.withInitial(() -> Peer.UNKNOWN);

  /// The other end of a connection.
  ///
  /// @param source equal for connections that are counted together
  /// @param address null if the connection does not report it
  /// @param process as in [ConnectionGauges#peerProcess]
  /// @param end sends an error to the peer, and closes the connection
  public record Peer(Object source, @Nullable SocketAddress address, long process,
      Consumer<RSocketErrorException> end) {
    static final Peer UNKNOWN = new Peer("no address", null, ConnectionGauges.NO_PROCESS, error -> {});

    static Peer of(DuplexConnection connection) {
      SocketAddress remote = connection.remoteAddress();
      return new Peer(SourceAddress.of(remote), remote,
          connection instanceof ConnectionGauges gauges ? gauges.peerProcess() : ConnectionGauges.NO_PROCESS,
          connection::sendErrorAndClose);
    }
  }

  private final DuplexConnection connection;
  /// Longest silence that SETUP may ask for; null at a client, which gets no SETUP.
  private final @Nullable Duration mostLifetime;
  /// Lifetime in the SETUP of a client; null if RSocket keeps it.
  private final @Nullable Duration ownLifetime;
  /// Null if RSocket keeps the lifetime.
  private final @Nullable PeerWatch watch;
  /// Whether SETUP has come. On the event loop alone.
  private boolean isSetUp;

  private CheckedFrames(DuplexConnection connection, @Nullable Duration mostLifetime, @Nullable Duration ownLifetime,
      @Nullable PeerWatch watch) {
    this.connection = connection;
    this.mostLifetime = mostLifetime;
    this.ownLifetime = ownLifetime;
    this.watch = watch;
  }

  /// Wraps every connection of a client that uses `registry`. RSocket keeps the lifetimes.
  public static void ofClient(InterceptorRegistry registry) {
    require(registry, CheckedFrames::of);
  }

  /// Checks what comes over `connection` to a client.
  public static DuplexConnection of(DuplexConnection connection) {
    return new CheckedFrames(connection, null, null, null);
  }

  /// Wraps every connection of a client that uses `registry`, and ends one whose node is silent for `lifetime`.
  ///
  /// @param timers for connections that have none
  public static void ofClient(InterceptorRegistry registry, Duration lifetime, @Nullable Scheduler timers) {
    require(registry, connection -> {
      Scheduler own = connection instanceof TimedConnection timed ? timed.timers() : timers;
      return new CheckedFrames(connection, null, lifetime, new PeerWatch(connection, requireNonNull(own, "timers")));
    });
  }

  /// Wraps every connection of a node that uses `registry`.
  public static void ofNode(InterceptorRegistry registry, Duration mostLifetime) {
    require(registry, connection -> new CheckedFrames(connection, mostLifetime, null,
        connection instanceof TimedConnection timed ? new PeerWatch(connection, timed.timers()) : null));
  }

  private static void require(InterceptorRegistry registry, UnaryOperator<DuplexConnection> checked) {
    registry.forConnection((type, connection) -> type == DuplexConnectionInterceptor.Type.SOURCE
        ? checked.apply(connection)
        : connection);
  }

  /// Peer of the connection whose SETUP is being accepted on this thread.
  public static Peer peer() {
    Peer peer = PEER.get();
    PEER.remove();
    return peer;
  }

  private static boolean isSetup(ByteBuf frame) {
    try {
      return FrameHeaderCodec.nativeFrameType(frame) == FrameType.SETUP;
    } catch (RuntimeException e) { // no frame of RSocket's: its reader says so
      return false;
    }
  }

  @Override
  public Flux<ByteBuf> receive() {
    return connection.receive().handle(this::pass);
  }

  private void pass(ByteBuf frame, SynchronousSink<ByteBuf> next) {
    RSocketErrorException refusal = refusal(frame);
    if (refusal == null) {
      if (watch != null) {
        watch.heard();
      }
      if (mostLifetime != null && !isSetUp && isSetup(frame)) { // RSocket refuses another SETUP
        isSetUp = true;
        watched(frame);
        // the acceptor runs when this has returned
        PEER.set(Peer.of(connection));
      }
      next.next(frame);
    } else {
      connection.sendErrorAndClose(refusal);
      if (!(refusal instanceof RejectedSetupException)) { // without SETUP, RSocket takes nothing that follows
        next.error(refusal); // the rest of the payload must not be taken for a whole
      }
    }
  }

  /// Takes the lifetime in SETUP over from RSocket.
  private void watched(ByteBuf setup) {
    if (watch != null) {
      watch.begin(Duration.ofMillis(SetupFrameCodec.keepAliveMaxLifetime(setup)));
      lifetime(setup, WATCHED);
    }
  }

  private static void lifetime(ByteBuf setup, Duration lifetime) {
    setup.setInt(setup.readerIndex() + LIFETIME_OFFSET, (int) lifetime.toMillis());
  }

  private @Nullable RSocketErrorException refusal(ByteBuf frame) {
    try {
      FrameType type = FrameHeaderCodec.nativeFrameType(frame);
      return mostLifetime != null && type == FrameType.SETUP
          ? refusalOfSetup(frame, mostLifetime.toMillis())
          : refusalOf(frame, type);
    } catch (RuntimeException e) { // no frame of RSocket's: its reader says so
      return null;
    }
  }

  private static @Nullable RSocketErrorException refusalOf(ByteBuf frame, FrameType type) {
    if (isCut(frame, type)) {
      return new ConnectionErrorException("frames must be whole (was a frame " + type + " that was cut short)");
    }
    return type == FrameType.ERROR && !isCode(FrameHeaderCodec.streamId(frame), ErrorFrameCodec.errorCode(frame))
        ? new ConnectionErrorException(
            "errors must have a code (was 0x%08x)".formatted(ErrorFrameCodec.errorCode(frame)))
        : refusalOfFragment(frame, type);
  }

  /// Whether the frame ends before the fields of its type, or before its metadata.
  private static boolean isCut(ByteBuf frame, FrameType type) {
    int fields = switch (type) {
      case ERROR, REQUEST_N, REQUEST_STREAM, REQUEST_CHANNEL -> Integer.BYTES;
      case KEEPALIVE, LEASE -> Long.BYTES;
      default -> 0;
    };
    int left = frame.readableBytes() - FrameHeaderCodec.size() - fields;
    if (left < 0 || !isFragmentable(type) || !FrameHeaderCodec.hasMetadata(frame)) {
      return left < 0;
    }
    int at = frame.readerIndex() + FrameHeaderCodec.size() + fields;
    return left < METADATA_LENGTH_BYTES || left - METADATA_LENGTH_BYTES < frame.getUnsignedMedium(at);
  }

  /// Whether it has data, and a length before its metadata.
  private static boolean isFragmentable(FrameType type) {
    return type == FrameType.PAYLOAD || type.isFragmentable();
  }

  /// Whether RSocket makes an error of `code`, which is unsigned.
  private static boolean isCode(int stream, int code) {
    return stream == 0
        ? (code >= ErrorFrameCodec.INVALID_SETUP && code <= ErrorFrameCodec.REJECTED_RESUME)
            || code == ErrorFrameCodec.CONNECTION_ERROR || code == ErrorFrameCodec.CONNECTION_CLOSE
        : (code >= ErrorFrameCodec.APPLICATION_ERROR && code <= ErrorFrameCodec.INVALID)
            || (Integer.compareUnsigned(code, ErrorFrameCodec.MIN_USER_ALLOWED_ERROR_CODE) >= 0
                && Integer.compareUnsigned(code, ErrorFrameCodec.MAX_USER_ALLOWED_ERROR_CODE) <= 0);
  }

  private static @Nullable RSocketErrorException refusalOfFragment(ByteBuf frame, FrameType type) {
    return FrameHeaderCodec.hasFollows(frame) && type.isFragmentable()
        ? new ConnectionErrorException("payloads must come in one frame each (was a fragment)")
        : null;
  }

  private static @Nullable RSocketErrorException refusalOfSetup(ByteBuf frame, long mostMillis) {
    if (isCut(frame)) { // RSocket would never release it
      return new RejectedSetupException("SETUP must be whole (was cut short)");
    }
    int lifetime = SetupFrameCodec.keepAliveMaxLifetime(frame);
    if (lifetime < LEAST_INTERVAL_MILLIS || lifetime > mostMillis) {
      return outside("lifetime", LEAST_INTERVAL_MILLIS, mostMillis, lifetime);
    }
    int interval = SetupFrameCodec.keepAliveInterval(frame);
    return interval < LEAST_INTERVAL_MILLIS || interval > lifetime
        ? outside("interval", LEAST_INTERVAL_MILLIS, lifetime, interval)
        : null;
  }

  private static boolean isCut(ByteBuf setup) {
    try {
      return SetupFrameCodec.dataMimeType(setup).isEmpty();
    } catch (IndexOutOfBoundsException e) {
      return true;
    }
  }

  private static RejectedSetupException outside(String what, long least, long most, int was) {
    return new RejectedSetupException(
        "keep-alive %s must be in [%d, %d] ms (was %d)".formatted(what, least, most, was));
  }

  @Override
  public void sendFrame(int streamId, ByteBuf frame) {
    if (watch != null && ownLifetime != null && streamId == 0 && isSetup(frame)) {
      lifetime(frame, ownLifetime);
      watch.begin(ownLifetime);
    }
    connection.sendFrame(streamId, frame);
  }

  @Override
  public void sendErrorAndClose(RSocketErrorException error) {
    connection.sendErrorAndClose(error);
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
    return watch == null ? connection.onClose() : connection.onClose().or(watch.silent());
  }

  @Override
  public void dispose() {
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
