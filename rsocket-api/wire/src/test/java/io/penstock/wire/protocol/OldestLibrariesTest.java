package io.penstock.wire.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/// The codec runs beside the oldest libraries that Spring Boot manages: Jackson 3.0.2 of Boot 4.0, and the annotations
/// 2.14.1 of Boot 3.0, which has no Jackson 3. It names no class of data binding and no annotation, so no version of
/// them matters.
final class OldestLibrariesTest {
  private static final Path CLASSES = Path.of(System.getProperty("basedir", ""), "target/classes");
  private static final Path OLDEST = Path.of(System.getProperty("basedir", ""), "target/oldest-jackson");

  /// Encodes and decodes messages; another class loader runs it, too.
  public static final class RoundTrip {
    private RoundTrip() {}

    /// The encoded messages, in hex.
    public static List<String> run() {
      List<String> encoded = new ArrayList<>();
      for (Object message : List.of(new Handshake.Hello(List.of(1), null, "c", null, List.of("views")),
          new StatMessages.Moved(Map.of("inline", 1L), null),
          new HoldMessages.RemoveRequest(null, "ab", null, true, new byte[16]))) {
        for (ControlCodec codec : ControlCodec.values()) {
          ByteBuf bytes = codec.encode(message, UnpooledByteBufAllocator.DEFAULT);
          ByteBuf again = codec.encode(codec.decode(bytes, message.getClass()), UnpooledByteBufAllocator.DEFAULT);
          encoded.add(HexFormat.of().formatHex(ByteBufUtil.getBytes(again)));
          bytes.release();
          again.release();
        }
      }
      encoded.add(ErrorData.read(ErrorData.none().with("wanted", 7).written()).value("wanted") + "");
      return encoded;
    }
  }

  @Test
  void codec_runsBesideTheOldestLibraries_andWritesTheSame() throws Exception {
    assumeTrue(Files.isDirectory(OLDEST), "the build puts the oldest libraries into target/oldest-jackson");
    List<URL> path = new ArrayList<>();
    try (Stream<Path> jars = Files.list(OLDEST)) {
      for (Path jar : jars.toList()) {
        path.add(jar.toUri().toURL());
      }
    }
    assertThat(path).hasSize(3);
    for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
      if (!entry.contains("jackson")) {
        path.add(url(entry));
      }
    }

    try (URLClassLoader alone =
        new URLClassLoader(path.toArray(URL[]::new), ClassLoader.getPlatformClassLoader())) {
      Class<?> trip = alone.loadClass(RoundTrip.class.getName());
      assertThat(trip).isNotEqualTo(RoundTrip.class);
      assertThat(trip.getMethod("run").invoke(null)).isEqualTo(RoundTrip.run());
    }
  }

  private static URL url(String entry) throws MalformedURLException {
    return Path.of(entry).toUri().toURL();
  }

  @Test
  void noClassOfTheWire_namesDataBindingOrAnnotations() throws IOException {
    try (Stream<Path> classes = Files.walk(CLASSES)) {
      List<Path> files = classes.filter(file -> file.toString().endsWith(".class")).toList();
      assertThat(files).isNotEmpty();
      for (Path file : files) {
        try (InputStream in = Files.newInputStream(file)) {
          String constants = new String(in.readAllBytes(), StandardCharsets.ISO_8859_1);
          assertThat(constants.contains("jackson/databind") || constants.contains("jackson/annotation")).as("" + file)
              .isFalse();
        }
      }
    }
  }
}
