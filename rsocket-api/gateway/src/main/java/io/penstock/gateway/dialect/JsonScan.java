package io.penstock.gateway.dialect;

/// Looks for a member in the text of a chunk without parsing it. A quote inside of a JSON text is escaped, so generated
/// words cannot be taken for a member's name.
final class JsonScan {
  private JsonScan() {}

  /// The place where the value of the last member with a name begins, or -1.
  ///
  /// @param quoted the name with its quotes
  static int valueOf(String json, String quoted) {
    int at = json.lastIndexOf(quoted);
    if (at < 0) {
      return -1;
    }
    int colon = afterSpace(json, at + quoted.length());
    return colon < json.length() && json.charAt(colon) == ':' ? afterSpace(json, colon + 1) : -1;
  }

  private static int afterSpace(String json, int from) {
    int at = from;
    while (at < json.length() && json.charAt(at) == ' ') {
      at++;
    }
    return at;
  }
}
