package io.penstock.wire;

/// Names of the routes of protocol version 1; see `PROTOCOL.md` of this module.
public final class Routes {
  /// Protocol version spoken here.
  public static final int VERSION = 1;
  /// Data MIME type of a slice, for information: responses carry slices whatever the data MIME type of the connection.
  public static final String SLICE_MIME_TYPE = "application/vnd.penstock.slice.v1";

  static final String PREFIX = "penstock.v1.";
  public static final String HELLO = PREFIX + "hello";
  public static final String MATCH = PREFIX + "match";
  public static final String EXISTS = PREFIX + "exists";
  public static final String GET = PREFIX + "get";
  public static final String PUT = PREFIX + "put";
  public static final String REMOVE = PREFIX + "remove";
  public static final String DRAIN = PREFIX + "drain";
  public static final String STAT = PREFIX + "stat";
  public static final String EVENTS = PREFIX + "events";

  private Routes() {}
}
