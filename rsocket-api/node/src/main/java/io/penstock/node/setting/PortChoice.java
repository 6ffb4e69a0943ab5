package io.penstock.node.setting;

/// A port to listen on, or none.
///
/// @param port 0 for any free one; meaningless when off
public record PortChoice(boolean isOff, int port) {
  /// No port.
  public static final PortChoice OFF = new PortChoice(true, 0);

  public PortChoice {
    if (port < 0 || port > 65535) {
      throw new IllegalArgumentException("port must be from 0 to 65535 (was " + port + ")");
    }
  }

  static PortChoice parse(String text) {
    return text.strip().equalsIgnoreCase("off") ? OFF : new PortChoice(false, Integer.parseInt(text));
  }

  @Override
  public String toString() {
    return isOff ? "off" : String.valueOf(port);
  }
}
