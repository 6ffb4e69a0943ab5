package io.penstock.wire.protocol;

import io.penstock.PermanentKvException;
import io.penstock.TransientKvException;
import java.net.ConnectException;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// What goes wrong between a client and a node.
public sealed interface WireFailure
    permits WireFailure.ConnectionLostException, WireFailure.ConnectTimeoutException,
    WireFailure.AnswerTimeoutException, WireFailure.AwaitTimeoutException,
    WireFailure.DrainingException, WireFailure.RateLimitedException, WireFailure.CarrierUnavailableException,
    WireFailure.RemoteTransientException, WireFailure.RemotePermanentException, WireFormatException {
  /// The connection to the peer is gone, or could not be made; a new connection may serve the same call.
  final class ConnectionLostException extends TransientKvException implements WireFailure {
    ConnectionLostException(String peer, Throwable cause) {
      super(words(peer, cause), behind(cause));
    }

    private static String words(String peer, Throwable cause) {
      String reason = cause.getMessage() == null ? cause.getClass().getSimpleName() : cause.getMessage();
      return cause instanceof ConnectException ? reason : "connection to " + peer + " is lost: " + reason;
    }

    /// The system's own reason why no connection could be made.
    private static Throwable behind(Throwable cause) {
      return cause instanceof ConnectException && cause.getCause() != null ? cause.getCause() : cause;
    }
  }

  /// Connecting to a peer took too long as a whole; another attempt may succeed.
  final class ConnectTimeoutException extends TransientKvException implements WireFailure {
    private final Duration timeout;

    public ConnectTimeoutException(String peer, Duration timeout) {
      super("connecting to " + peer + " must end within " + timeout + " (it did not)");
      this.timeout = timeout;
    }

    /// How long connecting may take.
    public Duration timeout() {
      return timeout;
    }
  }

  /// A node owed an answer and was silent for too long, on a connection that is still alive: a damaged frame was
  /// dropped without a word, or the node has lost the request. A retry may succeed.
  final class AnswerTimeoutException extends TransientKvException implements WireFailure {
    private final String route;
    private final String peer;
    private final Duration timeout;

    public AnswerTimeoutException(String route, String peer, Duration timeout) {
      super("answer to " + route + " must come within " + timeout + " from " + peer + " (none did)");
      this.route = route;
      this.peer = peer;
      this.timeout = timeout;
    }

    /// What was asked, see [Routes].
    public String route() {
      return route;
    }

    /// Who was asked, and where.
    public String peer() {
      return peer;
    }

    /// How long the node was silent at least.
    public Duration timeout() {
      return timeout;
    }
  }

  /// A block that a reader awaits, or slices of a put that had credit, did not arrive in time.
  final class AwaitTimeoutException extends TransientKvException implements WireFailure {
    private final String what;
    private final Duration timeout;

    public AwaitTimeoutException(String what, Duration timeout) {
      super(what + " must come within " + timeout + " (none did)");
      this.what = what;
      this.timeout = timeout;
    }

    /// What did not come.
    public String what() {
      return what;
    }

    /// How long was waited.
    public Duration timeout() {
      return timeout;
    }
  }

  /// The node is draining: running work may end, no new work begins. Another node, or a later try, may serve the call.
  final class DrainingException extends TransientKvException implements WireFailure {
    public DrainingException() {
      super("node must not be draining to take new work (was draining)");
    }
  }

  /// The connection has sent more requests than the node allows; the request may succeed later.
  final class RateLimitedException extends TransientKvException implements WireFailure {
    private final long most;
    private final Duration retryAfter;

    public RateLimitedException(long most, Duration retryAfter) {
      super("requests of a connection must be <= " + most + " a second (were more; try again in "
          + Math.max(1, retryAfter.toMillis()) + " ms)");
      this.most = most;
      this.retryAfter = retryAfter;
    }

    /// Most requests a second.
    public long most() {
      return most;
    }

    /// Time from the refusal until the next request would be allowed.
    public Duration retryAfter() {
      return retryAfter;
    }
  }

  /// A client and its node have none of the carriers that the client wants.
  final class CarrierUnavailableException extends PermanentKvException implements WireFailure {
    private final List<Carrier> wanted;
    private final List<Carrier> available;

    public CarrierUnavailableException(List<Carrier> wanted, List<Carrier> available, String reason) {
      super(
          "carrier must be one of " + labels(available) + ", which are available (was " + labels(wanted) + ": " + reason
              + ")");
      this.wanted = List.copyOf(wanted);
      this.available = List.copyOf(available);
    }

    private static List<String> labels(List<Carrier> carriers) {
      return carriers.stream().map(Carrier::label).toList();
    }

    /// Those that the client wants.
    public List<Carrier> wanted() {
      return wanted;
    }

    /// Those that it could have.
    public List<Carrier> available() {
      return available;
    }
  }

  /// The peer reported a failure that may pass.
  final class RemoteTransientException extends TransientKvException implements WireFailure {
    private final int code;

    public RemoteTransientException(int code, String message) {
      super(message);
      this.code = code;
    }

    /// The numeric code of the ERROR frame, see [ErrorCode].
    public int code() {
      return code;
    }
  }

  /// The peer reported a failure that no retry mends. If a field broke a rule, the peer names field, rule and value as
  /// data; a peer of an earlier release states them in the message alone.
  final class RemotePermanentException extends PermanentKvException implements WireFailure {
    private final int code;
    private final @Nullable String field;
    private final @Nullable Object wanted;
    private final @Nullable Object actual;

    public RemotePermanentException(int code, String message) {
      this(code, message, null, null, null);
    }

    RemotePermanentException(int code, String message, @Nullable String field, @Nullable Object wanted,
        @Nullable Object actual) {
      super(message);
      this.code = code;
      this.field = field;
      this.wanted = wanted;
      this.actual = actual;
    }

    /// The numeric code of the ERROR frame, see [ErrorCode].
    public int code() {
      return code;
    }

    /// The field that broke a rule, such as `space.tokens`; null if the peer named none.
    public @Nullable String field() {
      return field;
    }

    /// Value that the peer wants: a `Long`, a `String` (a value, or a rule in words), a list of
    /// [io.penstock.block.Plane], or null.
    public @Nullable Object wanted() {
      return wanted;
    }

    /// Value that the peer received, of the types of [#wanted()].
    public @Nullable Object actual() {
      return actual;
    }
  }
}
