package io.penstock.s3;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/// How many questions whether an object is there a node answers in a second, each with its signature checked: `HeadRate
/// [CONNECTIONS [AT_ONCE [SECONDS]]]`. Client and node share one process and the machine.
public final class HeadRate {
  private static final int KEYS = 1000;

  private HeadRate() {}

  public static void main(String[] args) throws IOException, InterruptedException {
    int connections = args.length > 0 ? Integer.parseInt(args[0]) : 4;
    int atOnce = args.length > 1 ? Integer.parseInt(args[1]) : 8;
    int seconds = args.length > 2 ? Integer.parseInt(args[2]) : 10;
    try (TestNode node = TestNode.start(Files.createTempDirectory("rate"), "dram: 512MiB\n")) {
      List<byte[]> heads = new ArrayList<>();
      try (RawClient client = new RawClient(node.port())) {
        for (int i = 0; i < KEYS; i++) {
          client.ask("PUT", "/rate/" + i, "", new byte[100_000]);
          heads.add(client.head("HEAD", "/rate/" + i, "").getBytes(StandardCharsets.US_ASCII));
        }
      }
      for (int round = 0; round < 3; round++) {
        long[] answers = new long[connections];
        List<Thread> threads = new ArrayList<>();
        long begun = System.nanoTime();
        for (int i = 0; i < connections; i++) {
          int number = i;
          threads
              .add(Thread.ofPlatform().start(() -> answers[number] = ask(node.port(), heads, atOnce, number, seconds)));
        }
        for (Thread each : threads) {
          each.join();
        }
        double taken = (System.nanoTime() - begun) / 1e9;
        System.out.printf(Locale.ROOT, "%.0f HEAD a second, %d connections, %d at once each%n",
            Arrays.stream(answers).sum() / taken, connections, atOnce);
      }
    }
  }

  private static long ask(int port, List<byte[]> heads, int atOnce, int number, int seconds) {
    try (Socket socket = new Socket("127.0.0.1", port)) {
      socket.setTcpNoDelay(true);
      InputStream in = new BufferedInputStream(socket.getInputStream(), 1 << 16);
      long end = System.nanoTime() + seconds * 1_000_000_000L;
      long answers = 0;
      int next = number * 31;
      while (System.nanoTime() < end) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (int i = 0; i < atOnce; i++) {
          all.writeBytes(heads.get(next++ % heads.size()));
        }
        all.writeTo(socket.getOutputStream());
        for (int i = 0; i < atOnce; i++) {
          requireFound(in);
          answers++;
        }
      }
      return answers;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void requireFound(InputStream in) throws IOException {
    int ends = 0;
    StringBuilder status = new StringBuilder();
    for (int at = 0; ends < 2; at++) {
      int each = in.read();
      if (each < 0) {
        throw new IOException("the connection ended");
      }
      if (at < 12) {
        status.append((char) each);
      }
      if (each == '\n') {
        ends++;
      } else if (each != '\r') {
        ends = 0;
      }
    }
    if (!status.toString().endsWith("200")) {
      throw new IOException("answer must be 200 (was " + status + ")");
    }
  }
}
