package io.penstock.testkit;

import io.penstock.block.Block;
import io.penstock.block.CacheSpace;
import io.penstock.block.SlabArena;
import io.penstock.tier.spi.BlockStore;
import io.penstock.tier.spi.StoredBlock;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/// What every [BlockStore] promises, as tests: extend it and open a store. The promises stand by subject in the
/// interfaces that it has.
///
/// After each test nothing may be lent of the host memory that the blocks came from. What a store does on threads of
/// its own is awaited.
@Timeout(60)
public abstract class BlockStoreContract implements StoreCopyContract, StoreKeepContract, StoreEndContract {
  /// The space of every store under test.
  protected final CacheSpace space = SPACE;
  private final List<BlockStore> opened = new ArrayList<>();

  /// Watches the host memory of the test.
  @RegisterExtension
  protected final LeakLedger leaks = new LeakLedger();

  final SlabArena arena = leaks.watch(new SlabArena("host", space.layout(), 1024, 4));

  /// Opens an empty store of [#space] with `capacityBlocks` slots, or any number if that is not fixed.
  protected abstract BlockStore openStore(int capacityBlocks);

  /// Opens what `closed` left behind; null for a store that forgets.
  protected abstract @Nullable BlockStore reopenStore(BlockStore closed);

  /// Puts `blocks`, and flips a bit at `offset` of the one at `index`, behind the store's back.
  protected abstract List<StoredBlock> putDamaged(BlockStore store, List<Block> blocks, int index, long offset);

  /// Blocks that `closed`, which was closed, keeps; those given up before do not count.
  protected abstract long storedBlocks(BlockStore closed);

  @AfterEach
  final void closeAll() {
    opened.forEach(store -> store.close().block(PATIENCE));
  }

  @Override
  public final BlockStoreContract contract() {
    return this;
  }

  final BlockStore watched(BlockStore store) {
    opened.add(store);
    return store;
  }
}
