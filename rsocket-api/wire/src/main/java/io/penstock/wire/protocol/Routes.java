package io.penstock.wire.protocol;

import io.penstock.wire.security.Role;
import java.util.List;

/// Names of the routes of protocol version 1; see `PROTOCOL.md` of this module.
public final class Routes {
  /// Protocol version spoken here.
  public static final int VERSION = 1;

  static final String PREFIX = "penstock.v1.";
  /// Agrees on version, space and limits; first on every connection.
  public static final String HELLO = PREFIX + "hello";
  /// Asks for the longest prefix that is there.
  public static final String MATCH = PREFIX + "match";
  /// Asks which keys are there.
  public static final String EXISTS = PREFIX + "exists";
  /// Streams blocks from the node.
  public static final String GET = PREFIX + "get";
  /// Streams blocks into the node.
  public static final String PUT = PREFIX + "put";
  /// Removes keys.
  public static final String REMOVE = PREFIX + "remove";
  /// Pins blocks, or ends their pins.
  public static final String PIN = PREFIX + "pin";
  /// Says in which state a session is.
  public static final String SESSION = PREFIX + "session";
  /// Asks for the blocks of a session.
  public static final String BLOCKS = PREFIX + "blocks";
  /// Ends a read lease.
  public static final String RELEASE = PREFIX + "release";
  /// Answers when the node holds nothing any more of a get.
  public static final String DRAIN = PREFIX + "drain";
  /// Reports to the node which windows of a get have landed; only if their slices had references.
  public static final String LANDED = PREFIX + "landed";
  /// Opens a read ring.
  public static final String RING = PREFIX + "ring";
  /// Asks for the figures of the node.
  public static final String STAT = PREFIX + "stat";
  /// Streams the events of blocks.
  public static final String EVENTS = PREFIX + "events";

  /// Has the node map shared memory of the client.
  public static final String REGION = PREFIX + "region";
  /// Stores slots of a region as blocks.
  public static final String STORE = PREFIX + "store";
  /// Copies blocks to slots of a region.
  public static final String LOAD = PREFIX + "load";

  /// Asks which segments the node has.
  public static final String SEGMENTS = PREFIX + "segments";
  /// Streams bytes from a segment.
  public static final String READ = PREFIX + "read";
  /// Streams bytes into a segment.
  public static final String WRITE = PREFIX + "write";
  /// Brings a notification.
  public static final String NOTIFY = PREFIX + "notify";

  /// Claims a rank, in its next generation.
  public static final String CLAIM = PREFIX + "claim";
  /// Registers a rank with its description and address.
  public static final String REGISTER = PREFIX + "register";
  /// A rank says that it lives, or that it ends.
  public static final String HEARTBEAT = PREFIX + "heartbeat";
  /// Asks which instances and ranks are there.
  public static final String INSTANCES = PREFIX + "instances";
  /// Asks which data-parallel replica has a request, or says so.
  public static final String REPLICA = PREFIX + "replica";
  /// A prefill engine has a prefill rank keep the blocks of a request, or ends that.
  public static final String KEEP = PREFIX + "keep";
  /// Carries a signal of a receiving rank to a prefill rank.
  public static final String SIGNAL = PREFIX + "signal";

  /// Asks which nodes are members of the node's cluster.
  public static final String MEMBERS = PREFIX + "members";
  /// Asks which members of the node's cluster have blocks.
  public static final String LOCATE = PREFIX + "locate";
  /// Asks for the tasks of the node.
  public static final String TASKS = PREFIX + "tasks";
  /// Starts a task of the node, or ends one.
  public static final String TASK = PREFIX + "task";

  /// A gateway says what its tenants have used, and asks what those of others have.
  public static final String USAGE = PREFIX + "usage";

  public static final List<String> ALL =
      List.of(HELLO, MATCH, EXISTS, GET, PUT, REMOVE, PIN, RELEASE, DRAIN, STAT, EVENTS,
          LANDED, RING, SEGMENTS, READ, WRITE, NOTIFY, CLAIM, REGISTER, HEARTBEAT, INSTANCES, REPLICA, KEEP, SIGNAL,
          SESSION, BLOCKS, MEMBERS, LOCATE, TASKS, TASK, USAGE, REGION, STORE, LOAD);

  private Routes() {}

  /// Role that `route` needs in a space. A route without a rule needs the role that may do everything.
  public static Role roleFor(String route) {
    return switch (route) {
      case HELLO, MATCH, EXISTS, GET, LANDED, RING, RELEASE, DRAIN, STAT, EVENTS, BLOCKS, SEGMENTS, READ, INSTANCES,
          MEMBERS, LOCATE, TASKS, REGION, LOAD ->
        Role.READER;
      case PUT, PIN, SESSION, WRITE, NOTIFY, CLAIM, REGISTER, HEARTBEAT, REPLICA, KEEP, SIGNAL, USAGE,
          STORE ->
        Role.WRITER;
      default -> Role.ADMIN;
    };
  }

  /// Whether requests on `route` pass at any rate of their connection: they release resources, or are heartbeats.
  public static boolean isUnlimited(String route) {
    return route.equals(RELEASE) || route.equals(DRAIN) || route.equals(HEARTBEAT);
  }

  /// Whether a request on `route` keeps nothing of its message while it runs.
  public static boolean hasNoKeys(String route) {
    return route.equals(EVENTS) || route.equals(DRAIN) || route.equals(READ);
  }
}
