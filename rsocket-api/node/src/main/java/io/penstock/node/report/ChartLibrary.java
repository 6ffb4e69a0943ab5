package io.penstock.node.report;

import java.io.IOException;
import java.io.InputStream;
import java.io.StringReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Properties;

/// Chart.js, from its jar on the class path.
///
/// @param name with version and licence, for people
/// @param script of the whole library
/// @param licence in full; it asks to go where the library goes
record ChartLibrary(String name, String script, String licence) {
  private static final String POM = "/META-INF/maven/org.webjars.npm/chart.js/pom.properties";

  static ChartLibrary load() {
    String version = version();
    String home = "/META-INF/resources/webjars/chart.js/" + version;
    return new ChartLibrary("Chart.js " + version + ", MIT licence",
        withoutMap(resource(home + "/dist/chart.umd.min.js")),
        resource(home + "/LICENSE.md").strip());
  }

  /// Content of the class path under `name`.
  static String resource(String name) {
    try (InputStream in = ChartLibrary.class.getResourceAsStream(name)) {
      if (in == null) {
        throw new IllegalStateException("class path must have " + name);
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String version() {
    Properties properties = new Properties();
    try {
      properties.load(new StringReader(resource(POM)));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return properties.getProperty("version", "");
  }

  /// The script without its last line, which would make a debugger load a missing file.
  private static String withoutMap(String script) {
    int map = script.lastIndexOf("//# sourceMappingURL=");
    return map < 0 ? script : script.substring(0, map);
  }
}
