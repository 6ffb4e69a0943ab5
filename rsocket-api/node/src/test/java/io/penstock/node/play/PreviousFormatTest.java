package io.penstock.node.play;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.node.CommandLineRun;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// A file of format 1, made when that format was new, is played for as long as format 1 is read. Any other format is
/// refused by its number.
@Timeout(60)
final class PreviousFormatTest {
  @TempDir
  private Path folder;

  private static Path formatOne() throws URISyntaxException {
    return Path.of(Objects.requireNonNull(PreviousFormatTest.class.getResource("/recordings/format-1.pkr")).toURI());
  }

  @Test
  void aRecordingOfFormat1_isPlayed() throws URISyntaxException {
    CommandLineRun played = CommandLineRun.of("replay", formatOne().toString(), "--json");

    assertThat(played.exitCode()).as(played.out() + played.err()).isZero();
    assertThat(played.out()).contains("\"events\":422");
  }

  @Test
  void aRecordingOfAnotherFormat_isRefusedByItsNumber() throws URISyntaxException, IOException {
    Path later = folder.resolve("later.pkr");
    try (InputStream in = new GZIPInputStream(Files.newInputStream(formatOne()));
        OutputStream out = new GZIPOutputStream(Files.newOutputStream(later))) {
      byte[] bytes = in.readAllBytes();
      bytes["penstock recording, format ".length()] = '0';
      out.write(bytes);
    }

    CommandLineRun played = CommandLineRun.of("replay", later.toString());

    assertThat(played.exitCode()).isNotZero();
    assertThat(played.err())
        .contains("must be \"penstock recording, format 1\" (was \"penstock recording, format 0\")");
  }
}
