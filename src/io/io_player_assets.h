/// Files that the build turns into arrays (cmake/embed.cmake).
#ifndef SN_IO_PLAYER_ASSETS_H
#define SN_IO_PLAYER_ASSETS_H

#include <stddef.h>

/// io/player/player.html, player.css and player.js, and three.js.
extern const unsigned char sn_asset_player_html[], sn_asset_player_css[], sn_asset_player_js[],
    sn_asset_three_js[];
extern const size_t sn_asset_player_html_size, sn_asset_player_css_size, sn_asset_player_js_size,
    sn_asset_three_js_size;

#endif
