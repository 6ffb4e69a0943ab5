package io.penstock.node.serve;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.penstock.node.CommandLineRun;
import io.rsocket.frame.RequestResponseFrameCodec;
import io.rsocket.frame.SetupFrameCodec;
import io.rsocket.util.DefaultPayload;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// What a node logs of peers that send what no client sends, and that it serves others beside them.
@Timeout(120)
final class BadFramesTest {
  private static final int CONNECTIONS = 250;
  private static final int FRAMES = 5_000;
  private static final String FORGED = "route\n2026-01-01T00:00:00.000Z ERROR Forged line\u001b[31m";

  @TempDir
  Path folder;

  @Test
  void badFrames_howeverMany_areFewLines_ofPrintableCharacters() throws Exception {
    try (NodeProcess node = NodeProcess.start(folder, "--dram", "50 blocks", "--log-level", "debug")) {
      assertThat(command(node, "put", "--count", "4")).isZero();
      int sent = 0;
      for (int connection = 0; sent < FRAMES; connection++) {
        sent += attack(node, new Random(connection), FRAMES / CONNECTIONS);
      }

      assertThat(command(node, "get", "--trace-id", "0-3", "--verify", "--discard")).isZero();
      node.terminate();
      assertThat(node.exitCode()).isZero();
      assertThat(node.said().lines().count()).as(node.said()).isLessThanOrEqualTo(100);
      assertThat(node.said()).contains("more were left out").doesNotContain("\tat ").doesNotContain("\u001b");
      assertThat(node.said().lines()).noneMatch(line -> line.contains("Forged line") && line.startsWith("2026-01-01"));
      assertThat(node.said().length()).isLessThan(64 << 10);
    }
  }

  private static int command(NodeProcess node, String... arguments) {
    return CommandLineRun.of(Stream.concat(Stream.of(arguments), Stream.of("--connect", "127.0.0.1:" + node.port()))
        .toArray(String[]::new)).exitCode();
  }

  /// How many frames the node took, of at most `most`: it may end the connection at the first.
  private static int attack(NodeProcess node, Random random, int most) throws IOException {
    int sent = 0;
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), node.port())) {
      OutputStream out = socket.getOutputStream();
      send(out, SetupFrameCodec.encode(ByteBufAllocator.DEFAULT, false, 20_000, 90_000, Unpooled.EMPTY_BUFFER,
          "message/x.rsocket.composite-metadata.v0", "application/cbor", DefaultPayload.create("")));
      for (; sent < most; sent++) {
        send(out, bad(random, 2 * sent + 1));
      }
      socket.shutdownOutput();
      socket.getInputStream().transferTo(OutputStream.nullOutputStream());
    } catch (IOException ended) {
      sent++;
    }
    return sent;
  }

  private static ByteBuf bad(Random random, int stream) {
    byte[] noise = new byte[6 + random.nextInt(100)];
    random.nextBytes(noise);
    return switch (random.nextInt(4)) {
      case 0 -> Unpooled.wrappedBuffer(noise);
      case 1 -> Unpooled.buffer().writeInt(stream).writeShort(random.nextInt(1 << 16)).writeBytes(noise);
      case 2 -> RequestResponseFrameCodec.encode(ByteBufAllocator.DEFAULT, stream, false,
          Unpooled.copiedBuffer(FORGED, StandardCharsets.UTF_8), Unpooled.wrappedBuffer(noise));
      default -> Unpooled.buffer().writeInt(0).writeShort(1 << 10).writeBytes(noise); // SETUP once more
    };
  }

  private static void send(OutputStream out, ByteBuf frame) throws IOException {
    ByteBuf framed = Unpooled.buffer().writeMedium(frame.readableBytes()).writeBytes(frame);
    frame.release();
    out.write(ByteBufUtil.getBytes(framed));
    framed.release();
  }
}
