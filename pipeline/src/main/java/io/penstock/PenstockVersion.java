package io.penstock;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Properties;

/// The version of this build, as the build file states it: `--version` prints it, and peers exchange it.
public final class PenstockVersion {
  private static final String RESOURCE = "version.properties";
  private static final String CURRENT = read();

  private PenstockVersion() {}

  /// The version of the running code, for instance `0.1.0`; never empty.
  public static String current() {
    return CURRENT;
  }

  private static String read() {
    try (InputStream in = PenstockVersion.class.getResourceAsStream(RESOURCE)) {
      if (in == null) {
        throw new IllegalStateException(RESOURCE + " is missing beside " + PenstockVersion.class.getName());
      }
      Properties properties = new Properties();
      properties.load(in);
      return properties.getProperty("version", "");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
