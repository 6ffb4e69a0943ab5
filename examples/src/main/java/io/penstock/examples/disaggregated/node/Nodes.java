package io.penstock.examples.disaggregated.node;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/// Starts the nodes of a story.
public interface Nodes extends AutoCloseable {
  /// @param number of the node, counted from 0
  Peer prefill(int number) throws IOException;

  /// @param number of the node, counted from 0
  Peer decode(int number) throws IOException;

  @Override
  void close();

  /// Name of a prefill in the registry.
  static String prefillName(int number) {
    return "prefill " + number;
  }

  /// Name of a decode for prefills.
  static String decodeName(int number) {
    return "decode " + number;
  }

  /// Each node is a process; the registry is here.
  ///
  /// @param args of the story, without a folder to record in
  /// @param recordings folder in which each node records into a folder of its own; null for none
  static Nodes processes(List<String> args, @Nullable Path recordings) {
    Network network = Network.create("registry");
    RegistryNode registry = new RegistryNode(network);
    List<ChildPeer> children = new ArrayList<>();
    return new Nodes() {
      @Override
      public Peer prefill(int number) throws IOException {
        return start("prefill", number);
      }

      @Override
      public Peer decode(int number) throws IOException {
        return start("decode", number);
      }

      private Peer start(String role, int number) throws IOException {
        List<String> all = new ArrayList<>(List.of("disaggregated", "--serve", role, "--number", "" + number,
            "--registry", "" + registry.port()));
        all.addAll(args);
        if (recordings != null) {
          all.addAll(List.of("--record", recordings.resolve(role + "-" + number).toString()));
        }
        ChildPeer child = ChildPeer.start(all);
        children.add(child);
        child.started();
        return child;
      }

      @Override
      public void close() {
        children.reversed().forEach(ChildPeer::close);
        registry.close();
        network.close();
      }
    };
  }

  /// All nodes are in this process.
  ///
  /// @param maker stays the caller's
  static Nodes here(Setup setup, TierMaker maker, LongSupplier micros) {
    Network network = Network.create("disaggregated");
    RegistryNode registry = new RegistryNode(network);
    List<Peer> peers = new ArrayList<>();
    return new Nodes() {
      @Override
      public Peer prefill(int number) {
        return added(new PrefillNode(prefillName(number), setup, registry.port(), network, maker, micros));
      }

      @Override
      public Peer decode(int number) {
        return added(new DecodeNode(decodeName(number), setup, registry.port(), network, maker, micros));
      }

      private Peer added(Peer node) {
        peers.add(node);
        return node;
      }

      @Override
      public void close() {
        peers.reversed().forEach(Peer::close); // a decode before the prefills that it is connected to
        registry.close();
        network.close();
      }
    };
  }
}
