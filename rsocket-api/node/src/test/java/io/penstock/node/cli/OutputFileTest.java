package io.penstock.node.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class OutputFileTest {
  @TempDir
  private Path folder;

  @Test
  void of_aNewFile_leavesNothingUntilWritten() throws IOException {
    OutputFile file = OutputFile.of("--out", folder.resolve("a.html"));
    assertThat(names()).isEmpty();

    file.write("all of it".getBytes(StandardCharsets.UTF_8));

    assertThat(names()).containsExactly("a.html");
    assertThat(folder.resolve("a.html")).hasContent("all of it");
  }

  @Test
  void write_throughALink_replacesWhatItPointsTo() throws IOException {
    Path target = Files.writeString(folder.resolve("target.html"), "before");
    Path link = Files.createSymbolicLink(folder.resolve("link.html"), target);

    OutputFile.of("--out", link).write("after".getBytes(StandardCharsets.UTF_8));

    assertThat(link).isSymbolicLink().hasContent("after");
    assertThat(target).hasContent("after");
  }

  @Test
  void of_whatCannotBeWritten_isRefusedAtOnceByItsName() throws IOException {
    Path file = Files.writeString(folder.resolve("file"), "");

    assertRefused(folder, "is a folder");
    assertRefused(folder.resolve("missing/a.html"), "must be in a folder that exists (no such folder)");
    assertRefused(file.resolve("a.html"), "a.html must be ");
    assertRefused(Path.of("/dev/null"), "is no regular file");
    assertThat(names()).containsExactly("file");
  }

  @Test
  void require_takesADeviceButNoFolder() throws IOException {
    OutputFile.require("--out", Path.of("/dev/null"));
    OutputFile.require("--out", folder.resolve("new"));

    assertThatThrownBy(() -> OutputFile.require("--out", folder)).isInstanceOf(IOException.class)
        .hasMessage("--out must be a file that can be written: " + folder + " must be usable (is a folder)");
    assertThat(names()).isEmpty();
  }

  @Test
  void require_ofAFileThatIsThere_asksForNoPlaceBesideIt() throws IOException {
    Path inAFolderThatTakesNoFile = Path.of("/proc/self/comm");

    OutputFile.require("--out", inAFolderThatTakesNoFile);

    assertThatThrownBy(() -> OutputFile.of("--out", inAFolderThatTakesNoFile)).isInstanceOf(IOException.class);
  }

  private static void assertRefused(Path file, String reason) {
    assertThatThrownBy(() -> OutputFile.of("--out", file)).isInstanceOf(IOException.class)
        .hasMessageStartingWith("--out must be a file that can be written: " + file).hasMessageContaining(reason);
  }

  private Stream<String> names() throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files.map(path -> path.getFileName().toString()).toList().stream();
    }
  }
}
