package io.penstock.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.penstock.PenstockVersion;
import java.io.IOException;
import java.nio.file.Path;
import java.util.jar.Attributes.Name;
import java.util.jar.JarFile;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class VersionTest {
  @ParameterizedTest
  @ValueSource(strings = {"block", "storage", "device", "wire", "node"})
  void manifest_namesTheVersionThatTheCodeNames(String room) throws Exception {
    Class<?> any = Class.forName("io.penstock." + room + ".package-info");
    Path place = Path.of(any.getProtectionDomain().getCodeSource().getLocation().toURI());
    assumeTrue(place.toString().endsWith(".jar"), "jars are made from the package phase on");

    assertThat(implementationVersion(place)).isEqualTo(PenstockVersion.current());
    assertThat(PenstockVersion.current()).isEqualTo(System.getProperty("penstock.revision"));
  }

  private static String implementationVersion(Path jar) throws IOException {
    try (JarFile file = new JarFile(jar.toFile())) {
      return file.getManifest().getMainAttributes().getValue(Name.IMPLEMENTATION_VERSION);
    }
  }
}
